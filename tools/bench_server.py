#!/usr/bin/env python3
"""Measures the server beside Redis, nginx and a server of gRPC's own library, in one run.

    tools/bench_server.py [--build build] [--rounds 3] [--seconds 3] [--only resp|http|grpc|observe]

Servers have core 0 to themselves and the load comes from core 1. Everybody takes turns in every
round, so that whatever else the machine does meets all of them. What counts are the ratios of the
medians. If the load had not kept up, the time of the server's core per request would still be right,
so that is shown as well.

Weir answers by the 100 rules of bench/server_rules.yaml. A request of the mix is counted under 2.8
limits of them, and the view of a page under one, as it is with the others, who have one limit per
client.

The bare peer receives, says the same to each request and sends: what the kernel takes, and nearly
nothing else. What it reaches is shown beside each target: who is there has nothing left to save but
system calls. It is no bound to the last percent, since who answers later finds more to answer at once.
The results are also in build/bench_server.json.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

from processes import DoesNotListen, Process, free_port

ROOT = pathlib.Path(__file__).resolve().parents[1]
SERVER_CORE, LOAD_CORE = "0", "1"


class Server(Process):
    """A process on the servers' core that is asked on a port."""

    def __init__(self, command, port, log):
        command = ["taskset", "-c", SERVER_CORE, *command]
        print("  " + shlex.join(command))
        try:
            super().__init__(command, port, log)
        except DoesNotListen as problem:
            sys.exit(f"bench-server: {problem}")

    def cpu_seconds(self):
        """Of all its processes: nginx answers in a child."""
        mine = str(self.process.pid)
        return sum(cpu for pid, parent, cpu in processes() if mine in (pid, parent))


def processes():
    """Yields (pid, parent, seconds of CPU)."""
    ticks = os.sysconf("SC_CLK_TCK")
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = pathlib.Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            yield entry.name, stat[1], (int(stat[11]) + int(stat[12])) / ticks


class Peers:
    """The servers, started when first asked for."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.started, self.script = {}, ""

    def get(self, name):
        if name not in self.started:
            getattr(self, "start_" + name)()
        return self.started[name]

    def start(self, name, command, port):
        self.started[name] = Server(command, port, self.folder / f"{name}.log")

    def start_redis(self):
        port = free_port()
        self.start("redis", ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no",
                             "--dir", str(self.folder)], port)
        script = (ROOT / "bench/peers/gcra.lua").read_bytes()
        self.script = subprocess.run(["redis-cli", "-p", str(port), "-x", "SCRIPT", "LOAD"],
                                     input=script, capture_output=True,
                                     check=True).stdout.decode().strip()

    def start_nginx(self):
        port = free_port()
        text = (ROOT / "bench/peers/nginx.conf").read_text()
        file = self.folder / "nginx.conf"
        file.write_text(text.replace("FOLDER", str(self.folder)).replace("PORT", str(port)))
        self.start("nginx", ["nginx", "-p", str(self.folder), "-c", str(file), "-g", "daemon off;"],
                   port)

    def start_bare(self):
        port = free_port()
        self.start("bare", [str(self.build / "bench/bare_peer"), str(port)], port)

    def start_grpc_peer(self):
        port = free_port()
        self.start("grpc_peer", [str(self.build / "bench/grpc_peer"), f"127.0.0.1:{port}",
                                 str(ROOT / "bench/server_rules.yaml")], port)

    def start_weir(self, name="weir", flags=()):
        ports = {name: free_port() for name in self.protocols()}
        command = [str(self.build / "weir"), "serve", "--threads", "1", "--state", "memory",
                   "--admin", "", "--rules", str(ROOT / "bench/server_rules.yaml"), *flags]
        for protocol, port in ports.items():
            command += [f"--{protocol}", f"127.0.0.1:{port}"]
        self.start(name, command, ports["resp"])
        for protocol, port in ports.items():
            self.started[f"{name}_{protocol}"] = WeirPort(self.started[name], port)

    def start_weir_resp(self):
        self.start_weir()

    start_weir_http = start_weir_grpc = start_weir_resp

    def start_blind_resp(self):
        self.start_weir("blind", ["--observe", "false"])

    start_blind_http = start_blind_resp

    def protocols(self):
        """What this Weir listens for."""
        usage = subprocess.run([self.build / "weir", "serve", "--help"], capture_output=True,
                               text=True, check=True).stdout
        return [name for name in ("resp", "http", "grpc") if f"--{name} " in usage]

    def stop(self):
        for name, server in self.started.items():
            if isinstance(server, Server):
                server.stop()


class WeirPort:
    """One protocol of the one Weir."""

    def __init__(self, server, port):
        self.server, self.port = server, port

    def cpu_seconds(self):
        return self.server.cpu_seconds()


# --- what is measured ----------------------------------------------------------------------------

# (title, who answers, what it is asked)
INCR = ("Redis INCR", "redis", "incr")
LUA = ("Redis, GCRA in Lua", "redis", "evalsha")
THROTTLE = ("Weir CL.THROTTLE", "weir_resp", "cl.throttle")
CHECK = ("Weir WEIR.CHECK", "weir_resp", "weir.check")
PAGE = ("Weir WEIR.CHECK of a page", "weir_resp", "page.check")
PAGE_HTTP = ("Weir /check of a page", "weir_http", "page.http")
NGINX_PAGE = ("nginx limit_req, a page", "nginx", "page.http")
NGINX = ("nginx limit_req", "nginx", "http")
HTTP = ("Weir /check", "weir_http", "http")
# Nothing is decided.
BARE = ("bare, CL.THROTTLE", "bare", "cl.throttle")
BARE_HTTP = ("bare, /check", "bare", "page.http")
LIBGRPC = ("libgrpc++, same handler", "grpc_peer", "grpc")
GRPC = ("Weir gRPC", "weir_grpc", "grpc")
# Without metrics and heavy hitters, to see what they cost.
BLIND_THROTTLE = ("blind CL.THROTTLE", "blind_resp", "cl.throttle")
BLIND_CHECK = ("blind WEIR.CHECK", "blind_resp", "weir.check")
BLIND_HTTP = ("blind /check", "blind_http", "http")

# name, protocol, connections, pipeline, who, targets: (ours, theirs, at least so many times)
CONTESTS = [
    *[(f"RESP, 50 connections, pipeline {pipeline}", "resp", 50, pipeline,
       [INCR, LUA, THROTTLE, PAGE, CHECK, BARE],
       [(ours, theirs, times) for ours in (CHECK, PAGE, THROTTLE)
        for theirs, times in ((INCR, incr), (LUA, lua))])
      for pipeline, incr, lua in ((1, 1.1, 2.5), (16, 2, 15), (64, 4, 40))],
    *[(f"HTTP, 50 connections, pipeline {pipeline}", "http", 50, pipeline,
       [NGINX, HTTP, NGINX_PAGE, PAGE_HTTP, BARE_HTTP],
       [(HTTP, NGINX, times), (PAGE_HTTP, NGINX_PAGE, times)])
      for pipeline, times in ((1, 1.25), (16, 10))],
    *[(f"gRPC, {connections} connections, {streams} streams", "grpc", connections, streams,
       [LIBGRPC, GRPC], [(GRPC, LIBGRPC, times)])
      for connections, streams, times in ((50, 1, 3.5), (10, 10, 6), (10, 100, 8))],
    ("metrics and heavy hitters, 50 connections, pipeline 16", "observe", 50, 16,
     [THROTTLE, BLIND_THROTTLE, CHECK, BLIND_CHECK, HTTP, BLIND_HTTP],
     [(THROTTLE, BLIND_THROTTLE, 0.95), (CHECK, BLIND_CHECK, 0.95), (HTTP, BLIND_HTTP, 0.95)]),
]


class Bench:
    def __init__(self, build, peers, seconds):
        self.build, self.peers, self.seconds = build, peers, seconds
        self.shown = set()

    def load(self, who, connections, pipeline, rate=0):
        """One run; what weir_load says of it, and the server's time per request."""
        _, server_name, say = who
        server = self.peers.get(server_name)
        command = ["taskset", "-c", LOAD_CORE, str(self.build / "bench/weir_load"), "--to",
                   f"127.0.0.1:{server.port}", "--say", say, "--connections", str(connections),
                   "--pipeline", str(pipeline), "--seconds", str(self.seconds)]
        if rate:
            command += ["--rate", str(round(rate))]
        if say == "evalsha":
            command += ["--script", self.peers.script]
        if shlex.join(command) not in self.shown:
            self.shown.add(shlex.join(command))
            print("  " + shlex.join(command), flush=True)
        before = server.cpu_seconds()
        out = subprocess.run(command, capture_output=True, text=True, check=False)
        if out.returncode != 0:
            sys.exit(f"bench-server: {shlex.join(command)}\n{out.stderr}")
        run = json.loads(out.stdout)
        run["server_us"] = (server.cpu_seconds() - before) * 1e6 / max(run["total"], 1)
        if run["failed"]:
            sys.exit(f"bench-server: {shlex.join(command)}: {run['failed']} errors among "
                     f"{run['answers']} answers; this measures nothing")
        return run


def spread(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def compare(runs, key, ours, theirs):
    """The ratio of the medians, and of each round."""
    mine, other = [r[key] for r in runs[ours[0]]], [r[key] for r in runs[theirs[0]]]
    ratios = [m / o if o else 0 for m, o in zip(mine, other)]
    median = statistics.median(other)
    return statistics.median(mine) / median if median else 0, min(ratios), max(ratios)


def verdict(ratio, target, at_least=True):
    return "reached" if (ratio >= target if at_least else ratio <= target) else "MISSED"


def bare_ratio(runs, theirs):
    """What the bare peer reaches; None where it was not measured."""
    bare = next((who for who in (BARE, BARE_HTTP) if who[0] in runs), None)
    return compare(runs, "per_second", bare, theirs)[0] if bare else None


def report(name, runs, targets):
    """Prints one contest; returns it for the JSON."""
    print(f"\n{name}")
    print(f"  {'':24} {'answers/s':>11} {'(of rounds)':>23} {'p50':>8} {'p99 us':>8} "
          f"{'server us/req':>13} {'refused':>8}")
    for title, of in runs.items():
        rate = spread([r["per_second"] for r in of])
        print(f"  {title:24} {rate['median']:11,.0f} {rate['least']:11,.0f}-{rate['most']:<11,.0f} "
              f"{statistics.median(r['p50_us'] for r in of):8,.0f} "
              f"{statistics.median(r['p99_us'] for r in of):8,.0f} "
              f"{statistics.median(r['server_us'] for r in of):13.2f} "
              f"{sum(r['refused'] for r in of) / max(sum(r['answers'] for r in of), 1):8.1%}")
    results = []
    for ours, theirs, target in targets:
        ratio, least, most = compare(runs, "per_second", ours, theirs)
        by_time = 1 / max(compare(runs, "server_us", ours, theirs)[0], 1e-9)
        bare = bare_ratio(runs, theirs)
        beside = "" if bare is None else f" (bare {bare:.2f})"
        print(f"    {ours[0] + ' to ' + theirs[0]:44} {ratio:6.2f} ({least:.2f}-{most:.2f}), by the "
              f"server's time {by_time:6.2f}; at least {target}: {verdict(ratio, target)}{beside}")
        results.append({"ours": ours[0], "theirs": theirs[0], "ratio": ratio, "target": target,
                        "least": least, "most": most, "by_server_time": by_time,
                        "bare": bare,
                        "verdict": verdict(ratio, target)})
    return {"contest": name, "runs": runs, "targets": results}


def report_latency(name, rate, runs, ours, theirs):
    print(f"\n{name}, open loop at {rate:,.0f} requests/s: latency from when a request was due, us")
    for title, of in runs.items():
        print(f"  {title:24} " + "   ".join(
            f"{label} {statistics.median(r[key] for r in of):9,.0f} "
            f"({min(r[key] for r in of):,.0f}-{max(r[key] for r in of):,.0f})"
            for label, key in (("p50", "p50_us"), ("p99", "p99_us"), ("p99.9", "p999_us"))))
    ratio, least, most = compare(runs, "p99_us", ours, theirs)
    print(f"    {'p99 of ' + ours[0] + ' to ' + theirs[0]:44} {ratio:6.2f} ({least:.2f}-{most:.2f}); "
          f"at most 1: {verdict(ratio, 1, at_least=False)}")
    return {"contest": name + ", latency", "rate": rate, "runs": runs, "targets": [
        {"ours": ours[0], "theirs": theirs[0], "ratio": ratio, "target": 1, "least": least,
         "most": most, "verdict": verdict(ratio, 1, at_least=False)}]}


def measurable(build, peers, only):
    """The contests there are servers for; says which are left out and why."""
    missing = {}
    for protocol, program in (("resp", "redis-server"), ("http", "nginx")):
        if shutil.which(program) is None and not os.path.exists("/usr/sbin/" + program):
            missing[protocol] = f"{program} is not installed (tools/packages-development.txt)"
    if "grpc" not in peers.protocols():
        missing["grpc"] = f"{build / 'weir'} serve has no --grpc"
    elif not (build / "bench/grpc_peer").exists():
        missing["grpc"] = f"{build / 'bench/grpc_peer'} is not built: libgrpc++ was not found"
    for protocol, why in missing.items():
        if only in (None, protocol):
            print(f"{protocol} is not measured: {why}")
    return [c for c in CONTESTS if c[1] not in missing and only in (None, c[1])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", choices=["resp", "http", "grpc", "observe"])
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin"  # where Debian keeps nginx

    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(options.build, pathlib.Path(folder))
        bench = Bench(options.build, peers, options.seconds)
        contests = measurable(options.build, peers, options.only)
        print("commands:")
        try:
            runs = {c[0]: {who[0]: [] for who in c[4]} for c in contests}
            for _ in range(options.rounds):
                for name, _, connections, pipeline, everybody, _ in contests:
                    for who in everybody:
                        runs[name][who[0]].append(bench.load(who, connections, pipeline))
            # Latency where requests come alone, at half of what the slowest can do.
            alone = [c for c in contests if c[3] == 1]
            late = {c[0]: {who[0]: [] for who in c[4]} for c in alone}
            rates = {c[0]: min(statistics.median(r["per_second"] for r in of)
                               for of in runs[c[0]].values()) / 2 for c in alone}
            for _ in range(options.rounds):
                for name, _, connections, pipeline, everybody, _ in alone:
                    for who in everybody:
                        late[name][who[0]].append(
                            bench.load(who, connections, pipeline, rates[name]))
        finally:
            peers.stop()

    results = [report(c[0], runs[c[0]], c[5]) for c in contests]
    results += [report_latency(c[0], rates[c[0]], late[c[0]], c[5][0][0], c[5][0][1])
                for c in alone]
    verdicts = [t["verdict"] for r in results for t in r["targets"]]
    print(f"\n{verdicts.count('reached')} of {len(verdicts)} targets reached")
    file = options.build / "bench_server.json"
    file.write_text(json.dumps(results, indent=1) + "\n")
    print(f"all runs: {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
