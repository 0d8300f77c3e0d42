#!/usr/bin/env python3
"""Runs the server for a chosen time under all that happens to servers, and looks at it afterwards.

    tools/soak.py [--minutes 20] [--build build]

Two servers run at the same time. One runs all the time: mixed load over every protocol, clients that
go away in the middle of a word, rules that change (now and then into something that is no rule) and
certificates that are exchanged. The other is ended and killed again and again, and goes on from what
it had counted. At the end:

  memory       the least that is allocated in the last quarter is what it was in the second, but for
               3 %; the least, because clients that are there take some
  descriptors  as many are open as at the start, once the clients have gone
  limits       a client that always asks for more was let through what its limit says, and no more
  requests     none has failed that nobody broke off, and every new certificate was seen

The exit code is 0 if all of it holds.
"""

import argparse
import os
import pathlib
import random
import re
import shlex
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
RATE, BURST = 50, 50  # of the client that always asks for more

PROBE_RULES = f"""namespace: soak
rules:
  - name: probe
    by: [user]
    limit: {RATE}/1s burst {BURST}
"""


def changing_rules(number):
    return f"""namespace: changing
rules:
  - name: rule-{number % 7}
    by: [user]
    limit: {1 + number % 90}/1s
"""


def replace(path, text):
    """As editors and deployments do: never half a file."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    os.replace(fresh, path)


class Server:
    """A server with a state folder, that may be started again where it listened before."""

    BANNER = re.compile(r"^(HTTP|gRPC|Redis) +on (.*):(\d+)$", re.MULTILINE)

    def __init__(self, program, folder, name, addresses, flags):
        self.log = folder / f"{name}.log"
        self.command = [program, "serve", "--state", str(folder / f"{name}-state"), *flags]
        self.addresses = addresses
        if not self.start():
            sys.exit(f"soak: {shlex.join(self.command)} does not start:\n{self.log.read_text()}")

    def start(self):
        """Whether it did."""
        said = self.log.stat().st_size if self.log.exists() else 0
        command = list(self.command)
        for flag, address in self.addresses.items():
            command += [flag, address]
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        wanted = sum(address != "" for address in self.addresses.values())
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            found = self.BANNER.findall(self.log.read_text(errors="replace")[said:])
            if len(found) == wanted:
                self.ports = {label: int(port) for label, _, port in found}
                for flag, label in (("--http", "HTTP"), ("--grpc", "gRPC"), ("--resp", "Redis")):
                    if label in self.ports:
                        before = self.addresses[flag].rpartition(":")[0]
                        self.addresses[flag] = f"{before}:{self.ports[label]}"
                return True
            time.sleep(0.05)
        return False

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", status)[1])

    def allocated_kib(self):
        """As its page of metrics says, over TLS."""
        page = b""
        with socket.create_connection(("127.0.0.1", self.ports["HTTP"]), 10) as plain:
            with trusting().wrap_socket(plain) as client:
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                while more := client.recv(65536):
                    page += more
        return int(re.search(rb"^weir_allocated_bytes (\d+)", page, re.MULTILINE)[1]) // 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(60)


def trusting():
    """For clients that do not ask who it is: certificates are made as it goes."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def ask_resp(connection, *words):
    """One command, and the first line of its answer with the rest of it."""
    connection.sendall(b"*%d\r\n" % len(words)
                       + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
    answer = b""
    while not answer.endswith(b"\r\n") or (answer[:1] == b"*" and answer.count(b"\r\n") < 6):
        more = connection.recv(4096)
        if not more:
            raise ConnectionError("the server closed the connection")
        answer += more
    return answer


class Probe:
    """A client that always asks for more, and counts what it gets."""

    def __init__(self, server, user):
        self.server, self.user = server, user
        self.passed = self.asked = 0
        self.began = self.ended = None

    def run(self, stop):
        connection = None
        while not stop.is_set():
            try:
                if connection is None:
                    address = ("127.0.0.1", self.server.ports["Redis"])
                    connection = socket.create_connection(address, 10)
                self.began = self.began or time.monotonic()
                answer = ask_resp(connection, b"WEIR.CHECK", b"soak", b"user", self.user)
                self.asked += 1
                self.passed += answer.split(b"\r\n")[1] == b":1"
            except OSError:
                connection = None
                time.sleep(0.02)
            time.sleep(0.004)
        self.ended = time.monotonic()

    def problem(self, at_least):
        time_asked = self.ended - self.began
        most = BURST + RATE * time_asked + 1
        least = at_least * RATE * time_asked
        print(f"  {self.passed:,} of {self.asked:,} passed in {time_asked:.0f} s; "
              f"the limit says {most:,.0f}")
        if self.passed > most:
            return f"{self.passed} passed, and the limit is {most:.0f}"
        if self.passed < least:
            return f"only {self.passed} passed, and the limit is {most:.0f}"
        return None


class Soak:
    def __init__(self, build, folder, minutes):
        self.build, self.folder, self.seconds = build, folder, minutes * 60
        self.stop = threading.Event()
        self.problems = []
        self.counts = {}
        self.random = random.Random(1)
        self.rules = folder / "rules"
        self.rules.mkdir()
        (self.rules / "bench.yaml").write_text((ROOT / "bench/server_rules.yaml").read_text())
        (self.rules / "probe.yaml").write_text(PROBE_RULES)
        (self.rules / "changing.yaml").write_text(changing_rules(0))
        self.serial = 0
        self.exchange_certificate()
        rules = ["--rules", str(self.rules), "--threads", "2"]
        here = "127.0.0.1:0"
        self.steady = Server(
            f"{build}/weir", folder, "steady",
            {"--http": f"tls:{here}", "--grpc": here, "--resp": here, "--admin": ""},
            [*rules, "--tls-certificate", str(folder / "certificate.pem"),
             "--tls-key", str(folder / "key.pem")])
        self.restless = Server(f"{build}/weir", folder, "restless",
                               {"--http": "", "--grpc": "", "--resp": here, "--admin": ""}, rules)

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def wait(self, seconds):
        return self.stop.wait(seconds)

    # --- what happens to the servers

    def load(self):
        """Mixed load, in short runs with connections of their own."""
        while not self.stop.is_set():
            say, port = self.random.choice(
                [("cl.throttle", "Redis"), ("weir.check", "Redis"), ("grpc", "gRPC")])
            run = subprocess.run(
                [f"{self.build}/bench/weir_load", "--say", say,
                 "--to", f"127.0.0.1:{self.steady.ports[port]}",
                 "--connections", str(self.random.choice([1, 20, 200])),
                 "--pipeline", str(self.random.choice([1, 16])), "--seconds", "4", "--warm-up", "0",
                 "--rate", "20000", "--clients", "200000", "--popularity", "zipf"],
                capture_output=True, text=True)
            if run.returncode != 0:
                self.problems.append(f"load {say}: {run.stdout}{run.stderr}")
            self.count("runs of load")

    def disconnects(self):
        """Clients that go away in the middle of a word, or never say one."""
        words = [(b"*3\r\n$10\r\nWEIR.CH", "Redis"), (b"*1\r\n$4\r\nPING\r\n" * 500, "Redis"),
                 (b"\x00" * 64, "Redis"), (b"PRI * HTTP/2.0\r\n\r\nSM", "gRPC"), (b"", "HTTP"),
                 (b"\x16\x03\x01\x02\x00\x01", "HTTP")]
        while not self.wait(0.01):
            said, port = self.random.choice(words)
            with socket.create_connection(("127.0.0.1", self.steady.ports[port]), 10) as client:
                client.sendall(said)
                if self.random.random() < 0.5:  # with a reset
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
            self.count("clients that went away")

    def change_rules(self):
        number = 0
        while not self.wait(1.5):
            number += 1
            broken = number % 10 == 0
            replace(self.rules / "changing.yaml", "rules: [" if broken else changing_rules(number))
            self.count("rules that are none" if broken else "changes of rules")

    def exchange_certificate(self):
        self.serial += 1
        key, certificate = self.folder / "key.new", self.folder / "certificate.new"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost",
             "-set_serial", str(self.serial)],
            check=True, capture_output=True)
        os.replace(key, self.folder / "key.pem")
        os.replace(certificate, self.folder / "certificate.pem")

    def change_certificates(self):
        while not self.wait(10):
            self.exchange_certificate()
            self.steady.process.send_signal(signal.SIGHUP)
            self.count("exchanges of the certificate")

    def ask_over_tls(self):
        """A new connection for every request; none may fail."""
        context = trusting()
        seen = set()
        while not self.wait(0.02):
            try:
                with socket.create_connection(("127.0.0.1", self.steady.ports["HTTP"]), 10) as plain:
                    with context.wrap_socket(plain) as client:
                        seen.add(hash(client.getpeercert(binary_form=True)))
                        client.sendall(b"GET /check/soak HTTP/1.1\r\nHost: a\r\n"
                                       b"Connection: close\r\n\r\n")
                        answer = client.recv(4096)
                if not answer.startswith(b"HTTP/1.1 200"):
                    self.problems.append(f"TLS: answered {answer[:60]!r}")
                self.count("requests over TLS")
            except OSError as error:
                self.problems.append(f"TLS: {error}")
        # The last ones may not have been asked for.
        if len(seen) < self.serial - 2:
            self.problems.append(f"TLS: {self.serial} certificates, and {len(seen)} were seen")

    def restart(self):
        while not self.wait(self.random.uniform(5, 15)):
            how = self.random.choice([signal.SIGTERM, signal.SIGKILL])
            code = self.restless.end(how)
            if how == signal.SIGTERM and code != 0:
                self.problems.append(f"SIGTERM: the server ended with {code}")
            self.start_again()
            self.count("restarts" if how == signal.SIGTERM else "restarts after kill -9")

    def start_again(self):
        """As a supervisor does: with rules that are none a server does not begin."""
        for _ in range(20):
            if self.restless.start():
                return
            self.count("starts refused because of the rules")
            time.sleep(0.5)
        raise RuntimeError(f"it does not start: {self.restless.log.read_text()[-2000:]}")

    # --- what is looked at

    def run(self):
        probes = [Probe(self.steady, b"steady"), Probe(self.restless, b"restless")]
        at_start = self.steady.descriptors()
        actors = [self.load, self.disconnects, self.change_rules, self.change_certificates,
                  self.ask_over_tls, self.restart,
                  *(lambda probe=probe: probe.run(self.stop) for probe in probes)]
        threads = [threading.Thread(target=self.guarded(actor)) for actor in actors]
        for thread in threads:
            thread.start()
        memory = self.watch_memory()
        self.stop.set()
        for thread in threads:
            thread.join()
        self.judge_memory(memory)
        time.sleep(5)  # what clients left behind is closed by then
        print(f"descriptors: {at_start} at the start, {self.steady.descriptors()} at the end")
        if self.steady.descriptors() > at_start:
            self.problems.append("descriptors were left open")
        print("limits:")
        # A server that is away answers nobody; it may refuse, but never let too many through.
        for probe, at_least in zip(probes, (0.95, 0.2)):
            if problem := probe.problem(at_least):
                self.problems.append(f"limits: {probe.user.decode()}: {problem}")
        for server in (self.steady, self.restless):
            if (code := server.end()) != 0:
                self.problems.append(f"{server.log.name}: the server ended with {code}")
        print("what happened: " + ", ".join(f"{count:,} {what}"
                                            for what, count in sorted(self.counts.items())))
        for problem in self.problems[:20]:
            print(f"soak: {problem}", file=sys.stderr)
        print("soak: " + (f"{len(self.problems)} problems" if self.problems else "all of it holds"))
        return 1 if self.problems else 0

    def guarded(self, actor):
        def run():
            try:
                actor()
            except Exception as error:  # a thread that dies must not look like an idle one
                self.problems.append(f"{getattr(actor, '__name__', 'probe')}: {error!r}")
        return run

    def watch_memory(self):
        memory = []
        end = time.monotonic() + self.seconds
        while (left := end - time.monotonic()) > 0 and self.steady.process.poll() is None:
            memory.append(self.steady.allocated_kib())
            time.sleep(min(1, left))
            if len(memory) % 60 == 0:
                print(f"  {left:5.0f} s left, {memory[-1]:,} KiB allocated, "
                      f"{self.steady.resident_kib():,} resident, {self.steady.descriptors()} "
                      f"descriptors, {len(self.problems)} problems", flush=True)
        if self.steady.process.poll() is not None:
            self.problems.append(f"the server ended by itself: {self.steady.log.read_text()[-2000:]}")
        return memory

    def judge_memory(self, memory):
        quarter = len(memory) // 4
        if quarter == 0:
            self.problems.append("too short to judge memory")
            return
        second, last = min(memory[quarter:2 * quarter]), min(memory[-quarter:])
        print(f"memory: {second:,} KiB in the second quarter, {last:,} in the last")
        if last > second * 1.03:
            self.problems.append(f"memory grew from {second} to {last} KiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--build", default="build")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="weir-soak-") as folder:
        return Soak(options.build, pathlib.Path(folder), options.minutes).run()


if __name__ == "__main__":
    sys.exit(main())
