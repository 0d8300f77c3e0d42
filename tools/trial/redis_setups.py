"""Redis as operators have it: one server, or a cluster of three masters with a replica each.

Each on ports and in folders of its own, without persistence: one that is started again is empty.
"""

import binascii
import re
import signal
import socket
import subprocess
import time

from processes import Process, free_port

SLOTS = 16384
NODE_TIMEOUT_MS = 1000  # how long a master may be silent until a replica takes its place


class Problem(Exception):
    """Redis answered with an error."""


def slot_of(name):
    """Of a key; what stands in its first braces decides."""
    tag = re.search(rb"\{([^}]+)\}", name)
    return binascii.crc_hqx(tag[1] if tag else name, 0) % SLOTS


class Client:
    """A connection to one node."""

    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), 5)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def ask(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words)
                            + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self.answer()

    def answer(self):
        line = self.file.readline()
        if not line:
            raise ConnectionError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise Problem(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        return rest

    def scan(self):
        cursor = b"0"
        while True:
            cursor, names = self.ask("SCAN", cursor, "COUNT", 1000)
            yield from names
            if cursor == b"0":
                return


class Node(Process):
    def __init__(self, folder, flags=(), host="127.0.0.1"):
        port = free_port(host)
        home = folder / f"redis-{port}"
        home.mkdir()
        super().__init__(
            ["redis-server", "--port", str(port), "--bind", *dict.fromkeys(("127.0.0.1", host)),
             "--protected-mode", "no", "--save", "", "--appendonly", "no", "--dir", str(home),
             *flags], port, folder / f"redis-{port}.log", host)

    def client(self):
        return Client(self.host, self.port)

    def ask(self, *words):
        with self.client() as client:
            return client.ask(*words)

    def keys_without_ttl(self):
        with self.client() as client:
            return [name for name in set(client.scan()) if client.ask("PTTL", name) == -1]

    def kill(self):
        self.send(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.send(signal.SIGCONT)  # one that is stopped does not end
        return super().stop()


class OneRedis:
    name = "one Redis"

    def __init__(self, folder, host="127.0.0.1"):
        self.nodes = [Node(folder, host=host)]

    def flags(self):
        return ["--redis", f"{self.nodes[0].host}:{self.nodes[0].port}"]

    def masters(self):
        return self.nodes

    def stop(self):
        for node in self.nodes:
            node.stop()


class RedisCluster:
    name = "cluster"

    def __init__(self, folder):
        self.nodes = []
        try:
            for _ in range(6):
                self.nodes.append(Node(folder, [
                    "--cluster-enabled", "yes", "--cluster-port", str(free_port()),
                    "--cluster-node-timeout", str(NODE_TIMEOUT_MS),
                    "--repl-diskless-sync-delay", "0"]))
            self.join()
        except BaseException:
            self.stop()
            raise

    def join(self):
        addresses = [f"127.0.0.1:{node.port}" for node in self.nodes]
        made = subprocess.run(
            ["redis-cli", "--cluster", "create", *addresses, "--cluster-replicas", "1",
             "--cluster-yes"], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise Problem(f"redis-cli --cluster create: {made.stdout}{made.stderr}")
        deadline = time.monotonic() + 30
        while not all(self.is_whole(node) for node in self.nodes):
            if time.monotonic() > deadline:
                raise Problem("the nodes of the cluster do not find each other")
            time.sleep(0.1)

    def is_whole(self, node):
        """As this node sees it: all slots are served, and replicas follow their masters."""
        if b"cluster_state:ok" not in node.ask("CLUSTER", "INFO"):
            return False
        role = node.ask("ROLE")
        return len(role[2]) == 1 if role[0] == b"master" else role[3] == b"connected"

    def flags(self):
        return ["--redis-kind", "cluster", *(word for node in self.nodes
                                             for word in ("--redis", f"127.0.0.1:{node.port}"))]

    def masters(self):
        return [node for node in self.nodes
                if node.is_running() and node.ask("ROLE")[0] == b"master"]

    def owner(self, slot):
        """Who serves it, by the masters' own word."""
        for node in self.masters():
            for first, last, (_, port, *_), *_ in node.ask("CLUSTER", "SLOTS"):
                if first <= slot <= last and port == node.port:
                    return node
        return None

    def wait_for_owner(self, slot):
        """Until somebody serves it, and nobody thinks that the cluster is down."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            owner = self.owner(slot)
            if owner is not None and all(b"cluster_state:ok" in node.ask("CLUSTER", "INFO")
                                         for node in self.masters()):
                return owner
            time.sleep(0.02)
        raise Problem(f"nobody serves slot {slot} after 30 s")

    def move(self, slot, to, pause):
        """Moves a slot while it is in use; `pause` seconds pass in each of the states between."""
        source = self.owner(slot)
        ids = {node: node.ask("CLUSTER", "MYID") for node in (source, to)}
        to.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source])
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to])
        time.sleep(pause)  # keys are at the old place; new ones begin at the new
        while names := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 100):
            source.ask("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", *names)
        time.sleep(pause)  # all are at the new place, and everybody is told so by the old
        for node in (to, source, *(n for n in self.masters() if n not in (to, source))):
            node.ask("CLUSTER", "SETSLOT", slot, "NODE", ids[to])

    def stop(self):
        for node in self.nodes:
            node.stop()
