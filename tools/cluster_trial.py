#!/usr/bin/env python3
"""Tries a cluster of real servers over a real Redis, and what can happen to it.

    tools/cluster_trial.py [--build build] [--seconds 30] [--quick] [--only WORD]

Three or ten servers enforce limits together, over one Redis or over a Redis Cluster of three
masters and three replicas, all started here. The i-th server gets 1/i of what the first gets, by
chance, and all together are asked for twice the limit. During some of the runs something breaks,
and is repaired.

Each run has one hot key and three slow ones in each mode (strict, lease), and one under an ordinary
limit, which must not notice. It is judged by docs/cluster.md:

  admitted   rate x time + burst within 1 %, and what an outage may give or cost on top
  answers    all of them come; 99 of 100 within the deadline (and what the machine adds)
  recovery   three seconds after the repair what is admitted is what one bucket would admit
  keys       none in Redis is without a time to live

The exit code is 0 if all of it holds. Root is needed to cut a network; without, that is skipped.
"""

import argparse
import dataclasses
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import typing

from processes import Process, free_port
from trial import faults, judge, network, redis_setups, report

ROOT = pathlib.Path(__file__).resolve().parents[1]
SERVERS_PER_CLIENT = 4


@dataclasses.dataclass(frozen=True)
class Kind:
    """Keys of one rule."""
    rule: str
    mode: str
    limit: judge.Limit
    written: str  # the limit, in the rule
    users: tuple
    per_second: float  # of all servers, for each user

    def rule_text(self, policy):
        shared = f", cluster: {self.mode}, on_error: {policy}" if self.mode else ""
        return (f"  - {{name: {self.rule}, match: {{path: /{self.rule}}}, by: [user], "
                f"limit: {self.written}{shared}}}\n")


HOT = ("hot",)
SLOW = ("one", "two", "three")
MINUTE = judge.Limit(10 / 60, 10)


def kinds_of(scale):
    """What is asked about; the hot ones at this part of the usual rates."""
    lease, strict = round(1000 * scale), round(200 * scale)
    return [
        Kind("lease", "lease", judge.Limit(lease, lease), f"{lease}/s", HOT, 2 * lease),
        Kind("strict", "strict", judge.Limit(strict, strict), f"{strict}/s", HOT, 2 * strict),
        # The same bucket, kept by any algorithm's way: as a state that is swapped.
        Kind("swap", "strict", judge.Limit(strict, strict),
             f"leaky_bucket {strict}/s queue {strict - 1} free {strict - 1}", HOT, 2 * strict),
        Kind("slow-lease", "lease", MINUTE, "10/min", SLOW, 3),
        Kind("slow-strict", "strict", MINUTE, "10/min", SLOW, 3),
        Kind("plain", "", judge.Limit(1000, 1000), "1000/s", HOT, 100 * scale),
    ]


@dataclasses.dataclass(frozen=True)
class Trial:
    event: str
    servers: int
    redis: type
    fault: typing.Callable = None
    policy: str = "local"
    cut: int = None  # the server in a network of its own


TRIALS = [
    *(Trial("none", servers, redis) for redis in (redis_setups.OneRedis, redis_setups.RedisCluster)
      for servers in (3, 10)),
    Trial("master killed", 3, redis_setups.RedisCluster, faults.kill_master),
    Trial("slots moved", 3, redis_setups.RedisCluster, faults.move_slots),
    Trial("SCRIPT FLUSH", 3, redis_setups.OneRedis, faults.flush_scripts),
    Trial("stopped", 3, redis_setups.OneRedis, faults.stop_and_continue),
    Trial("restarted empty", 3, redis_setups.OneRedis, faults.kill_and_restart),
    *(Trial("one cut off", 3, redis_setups.OneRedis, faults.cut_network, policy, cut=1)
      for policy in ("allow", "deny", "local")),
]


class Run:
    """One trial: everything that is started for it, and what was written down."""

    def __init__(self, trial, options, folder):
        self.trial, self.build, self.folder = trial, options.build, folder
        self.seconds, self.deadline_ms = options.seconds, options.deadline_ms
        self.kinds = kinds_of(options.scale)
        self.keys = [(kind, user) for kind in self.kinds for user in kind.users]
        self.redis = self.network = self.event = None
        self.servers = []
        self.rows = {}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for one in (*self.servers, self.redis):
            if one is not None:
                one.stop()
        if self.network is not None:
            self.network.remove()

    def start(self):
        if self.trial.cut is not None:
            self.network = network.Network()
            self.redis = self.trial.redis(self.folder, self.network.redis)
        else:
            self.redis = self.trial.redis(self.folder)
        rules = self.folder / "rules.yaml"
        rules.write_text("namespace: trial\nrules:\n"
                         + "".join(kind.rule_text(self.trial.policy) for kind in self.kinds))
        for number in range(self.trial.servers):
            is_apart = number == self.trial.cut
            host = self.network.server_to_clients if is_apart else "127.0.0.1"
            port = free_port()
            command = [str(self.build / "weir"), "serve", "--http", "", "--grpc", "", "--admin", "",
                       "--resp", f"{host}:{port}", "--rules", str(rules), "--state", "memory",
                       "--threads", "1", "--redis-deadline", f"{self.deadline_ms}ms",
                       *self.redis.flags()]
            self.servers.append(Process(self.network.inside(command) if is_apart else command, port,
                                        self.folder / f"weir-{number}.log", host))

    def shares(self):
        """Of the servers, as a skewed load balancer has it."""
        whole = sum(1 / (number + 1) for number in range(self.trial.servers))
        return [1 / (number + 1) / whole for number in range(self.trial.servers)]

    def clients(self, begin):
        """Starts those who ask."""
        shares = self.shares()
        groups = range(0, len(self.servers), SERVERS_PER_CLIENT)
        count = len(groups)
        started = []
        for group in range(count):
            numbers = range(group, len(self.servers), count)  # each has large and small ones
            plan = {
                "start": begin, "seconds": self.seconds, "seed": group + 1,
                "out": str(self.folder / f"rows-{group}"),
                "servers": [{"number": n, "host": self.servers[n].host,
                             "port": self.servers[n].port} for n in numbers],
                "keys": [{"number": number,
                          "words": ["WEIR.CHECK", "trial", "path", f"/{kind.rule}", "user", user],
                          "per_second": {n: kind.per_second * shares[n] for n in numbers}}
                         for number, (kind, user) in enumerate(self.keys)]}
            client = subprocess.Popen([sys.executable, ROOT / "tools/trial/load.py"],
                                      stdin=subprocess.PIPE, text=True)
            client.stdin.write(json.dumps(plan))
            client.stdin.close()
            started.append((client, plan["out"]))
        return started

    def run(self):
        begin = time.monotonic() + 1.5  # all clients are there by then
        clients = self.clients(begin)
        if self.trial.fault is not None:
            time.sleep(max(0, begin + self.seconds / 3 - time.monotonic()))
            self.event = self.trial.fault(self)
        rows = []
        for client, out in clients:
            if client.wait() != 0:
                sys.exit(f"cluster-trial: a client ended with {client.returncode}")
            rows += judge.read_rows(out)
        for number, (kind, _) in enumerate(self.keys):
            of_key = [row for row in rows if row[judge.KEY] == number]
            self.rows.setdefault(kind.rule, []).append(of_key)
        self.begin, self.end = begin, begin + self.seconds
        self.without_ttl = sum(len(node.keys_without_ttl()) for node in self.redis.masters())


def attempt(trial, options):
    """Runs it; again if the machine had no time for it."""
    for attempts_left in reversed(range(options.attempts)):
        with tempfile.TemporaryDirectory(prefix="weir-trial-") as folder:
            with Run(trial, options, pathlib.Path(folder)) as run:
                run.run()
                lines, problems = report.judge_run(run)
                noise, is_quiet = report.noise_ms(run), report.is_quiet(run)
        if is_quiet or attempts_left == 0:
            return lines, problems
        print(f"  again: the machine was busy, clients were up to {noise:.0f} ms late", flush=True)
    return [], []


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--seconds", type=float, default=30, help="of each run")
    parser.add_argument("--quick", action="store_true", help="12 seconds each: to try the trial")
    parser.add_argument("--deadline-ms", type=int, default=10,
                        help="of decisions that wait for Redis; more on a machine that is busy")
    parser.add_argument("--scale", type=float, default=1,
                        help="of the hot keys' limits and load; less on a machine that is slow")
    parser.add_argument("--attempts", type=int, default=3, help="of runs that the machine disturbs")
    parser.add_argument("--only", default="", help="only runs with this in their title")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended
    options.seconds = 12 if options.quick else options.seconds
    lines, problems, runs, skipped = [], [], 0, 0
    for trial in TRIALS:
        title = f"{trial.event}, {trial.servers} servers, {trial.redis.name}, {trial.policy}"
        if options.only not in title:
            continue
        runs += 1
        if trial.cut is not None and (why := network.why_not()):
            print(f"{title}: {why}", flush=True)
            skipped += 1
            continue
        print(f"{title} ...", flush=True)
        found, wrong = attempt(trial, options)
        lines += found
        problems += [f"{title}: {problem}" for problem in wrong]
    if runs == 0:
        sys.exit(f"cluster-trial: no run has '{options.only}' in its title")
    if runs == skipped:
        sys.exit("cluster-trial: every run was skipped, nothing is shown")
    report.print_table(lines)
    for problem in problems:
        print(f"cluster-trial: {problem}", file=sys.stderr)
    print("cluster-trial: "
          + (f"{len(problems)} outside their bounds" if problems else "all of it holds")
          + (f", {skipped} of {runs} runs skipped" if skipped else ""))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
