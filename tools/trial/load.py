#!/usr/bin/env python3
"""Asks some servers at the times of a plan, whatever they answer, and writes down every request.

The plan is JSON on the standard input; cluster_trial.py makes it:

    {"start": 12.5, "seconds": 30, "seed": 1, "out": "FILE",
     "servers": [{"number": 0, "host": "127.0.0.1", "port": 7001}],
     "keys": [{"number": 0, "words": ["WEIR.CHECK", ...], "per_second": {"0": 500.0}}]}

A connection has one request under way at a time, so that nobody waits behind another's answer;
there are as many as are needed. Times are of the machine's one monotonic clock, so those of several
processes can be compared.
"""

import array
import json
import random
import select
import socket
import sys
import time

# A row of the file: when it was due, sent and answered, the server, the key, and the verdict.
COLUMNS = 6
REFUSED, ADMITTED, FAILED = 0, 1, -1
LINES = 9  # of an answer to WEIR.CHECK: seven values, one of them a string
PATIENCE = 3  # seconds, for the last answers
MOST_CONNECTIONS = 200  # to a server; if all of them wait, what is due next is not asked


def command(words):
    words = [word.encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


def verdict(answer):
    """None while it is not whole."""
    if answer.startswith(b"-"):
        return FAILED if answer.endswith(b"\r\n") else None
    if answer.count(b"\r\n") < LINES:
        return None
    return ADMITTED if answer.startswith(b"*7\r\n:1\r\n") else REFUSED


def arrivals(plan):
    """(when, server, key) in order: each server's share of each key comes by chance (Poisson)."""
    chance = random.Random(plan["seed"])
    due = []
    for key in plan["keys"]:
        for server in plan["servers"]:
            rate = key["per_second"][str(server["number"])]
            when = chance.expovariate(rate)
            while when < plan["seconds"]:
                due.append((plan["start"] + when, server["number"], key["number"]))
                when += chance.expovariate(rate)
    return sorted(due)


class Connection:
    def __init__(self, server):
        self.server = server["number"]
        self.socket = socket.create_connection((server["host"], server["port"]), 5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answer = b""
        self.due = self.sent = self.key = None


class Load:
    def __init__(self, plan):
        self.plan = plan
        self.servers = {server["number"]: server for server in plan["servers"]}
        self.said = {key["number"]: command(key["words"]) for key in plan["keys"]}
        self.idle = {number: [] for number in self.servers}
        self.busy = {}  # by descriptor
        self.connections = dict.fromkeys(self.servers, 0)
        self.poll = select.epoll()
        self.rows = array.array("d")
        for server in plan["servers"]:
            number = server["number"]
            self.idle[number] = [self.connect(number) for _ in range(4)]

    def connect(self, server):
        if self.connections[server] == MOST_CONNECTIONS:
            raise ConnectionError("the server does not answer")
        connection = Connection(self.servers[server])
        self.connections[server] += 1
        self.poll.register(connection.socket, select.EPOLLIN)
        return connection

    def send(self, due, server, key):
        try:
            connection = self.idle[server].pop() if self.idle[server] else self.connect(server)
            connection.due, connection.key, connection.answer = due, key, b""
            connection.sent = time.monotonic()
            connection.socket.sendall(self.said[key])
        except OSError:
            now = time.monotonic()
            self.rows.extend((due, now, now, server, key, FAILED))
            return
        self.busy[connection.socket.fileno()] = connection

    def receive(self, descriptor):
        connection = self.busy.get(descriptor)
        if connection is None:  # closed while nothing was asked: seen when it is used
            self.poll.unregister(descriptor)
            return
        try:
            more = connection.socket.recv(4096)
        except OSError:
            more = b""
        connection.answer += more
        said = verdict(connection.answer) if more else FAILED
        if said is None:
            return
        self.rows.extend((connection.due, connection.sent, time.monotonic(), connection.server,
                          connection.key, said))
        del self.busy[descriptor]
        if more:
            self.idle[connection.server].append(connection)
        else:
            connection.socket.close()  # and nobody waits for it any more
            self.connections[connection.server] -= 1

    def run(self):
        due = arrivals(self.plan)
        next_one = 0
        deadline = None
        while next_one < len(due) or self.busy:
            now = time.monotonic()
            while next_one < len(due) and due[next_one][0] <= now:
                self.send(*due[next_one])
                next_one += 1
            if next_one < len(due):
                wait = max(0, due[next_one][0] - time.monotonic())
            else:
                deadline = deadline or now + PATIENCE
                wait = deadline - now
                if wait <= 0:
                    break
            for descriptor, _ in self.poll.poll(wait):
                self.receive(descriptor)
        for one in self.busy.values():
            self.rows.extend((one.due, one.sent, time.monotonic(), one.server, one.key, FAILED))
        with open(self.plan["out"], "wb") as out:
            self.rows.tofile(out)


if __name__ == "__main__":
    Load(json.load(sys.stdin)).run()
