"""What happens to a cluster, one thing at a time.

Each function is called in the middle of a run, does it, and returns what it was.
"""

import dataclasses
import signal
import time

from trial import redis_setups


@dataclasses.dataclass(frozen=True)
class Event:
    began: float
    repaired: float
    cut_off: tuple = ()  # the servers that were without Redis
    forgot: bool = False  # Redis has lost what it knew


def part_of(run, seconds):
    """Of a run of half a minute; shorter ones have shorter faults."""
    return min(seconds, seconds * run.seconds / 30 + 0.5)


def everybody(run):
    return tuple(range(run.trial.servers))


def hot_slots(run):
    """Of the hot keys that are in Redis now."""
    names = {name for node in run.redis.masters() for name in keys_of(node) if b":hot}" in name}
    return sorted({redis_setups.slot_of(name) for name in names})


def keys_of(node):
    with node.client() as client:
        return list(client.scan())


def kill_master(run):
    """The one that has the leased key; the cluster is down until its replica takes over."""
    slot = next(redis_setups.slot_of(name) for node in run.redis.masters()
                for name in keys_of(node) if b"/lease:" in name and b":hot}" in name)
    master = run.redis.owner(slot)
    began = time.monotonic()
    master.kill()
    run.redis.wait_for_owner(slot)
    return Event(began, time.monotonic(), cut_off=everybody(run))


def move_slots(run):
    """Those of the hot keys, one after the other, to the next master."""
    began = time.monotonic()
    for slot in hot_slots(run):
        masters = run.redis.masters()
        source = run.redis.owner(slot)
        to = masters[(masters.index(source) + 1) % len(masters)]
        run.redis.move(slot, to, pause=part_of(run, 1))
    return Event(began, time.monotonic())


def flush_scripts(run):
    began = time.monotonic()
    for node in run.redis.masters():
        node.ask("SCRIPT", "FLUSH")
    return Event(began, time.monotonic())


def stop_and_continue(run):
    """It is there, accepts connections, and says nothing."""
    began = time.monotonic()
    run.redis.nodes[0].send(signal.SIGSTOP)
    time.sleep(part_of(run, 3))
    run.redis.nodes[0].send(signal.SIGCONT)
    return Event(began, time.monotonic(), cut_off=everybody(run))


def kill_and_restart(run):
    began = time.monotonic()
    run.redis.nodes[0].kill()
    time.sleep(part_of(run, 3))
    run.redis.nodes[0].start()
    return Event(began, time.monotonic(), cut_off=everybody(run), forgot=True)


def cut_network(run):
    """Between one server and Redis."""
    began = time.monotonic()
    run.network.cut()
    time.sleep(part_of(run, 5))
    run.network.repair()
    return Event(began, time.monotonic(), cut_off=(run.trial.cut,))
