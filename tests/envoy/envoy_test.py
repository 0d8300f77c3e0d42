#!/usr/bin/env python3
"""Envoy asks Weir, over HTTP and over gRPC, configured as docs/gateways/envoy.md says.

    tests/envoy/envoy_test.py --weir build/weir --envoy ENVOY      (make test-envoy)

The files of the page are taken as they are, but for ports, and for the time that Envoy waits where
that is not what is tested. Clients call from different addresses of loopback; Weir trusts only
127.0.0.1, which is Envoy.
"""

import argparse
import http.client
import http.server
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/gateways/envoy.md"
OPTIONS = None

RULES = """\
namespace: default
rules:
  - {name: orders, match: {path: /orders}, by: [ip], limit: 2/h}
  - {name: writes, match: {path: /writes, method: POST}, limit: 1/h}
  - {name: keyed, match: {path: /keyed}, by: [header.x-api-key], limit: 1/h}
  - {name: closed, match: {path: /closed}, limit: blocked, status: 503}
  - {name: slow, match: {path: /slow}, limit: 1/h, exceed: delay 2h}
"""


def page_block(first):
    """The code block of the page that begins with this line."""
    text = PAGE.read_text()
    start = text.find("\n" + first + "\n")
    if start < 0:
        sys.exit(f"{PAGE} has no code block that begins with '{first}'")
    return text[start + 1:text.index("\n```", start) + 1]


def adapted(text, changes):
    """`text` with what is on the page replaced by what is here. All of it must be on the page."""
    for before, after in changes.items():
        if before not in text:
            sys.exit(f"{PAGE}: the configuration has no '{before}'")
        text = text.replace(before, after)
    return text


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def wait_for(port, process, log):
    for _ in range(6000):
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.01)
    sys.exit(f"{process.args[0]} does not listen on {port}:\n{log.read_text()}")


class Echo(http.server.BaseHTTPRequestHandler):
    """An application whose answer is the request that reached it."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = f"{self.command} {self.path}\n".encode() + body
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET

    def log_message(self, *_):
        pass


class EnvoyTest(unittest.TestCase):
    """Starts what a test asks for, and ends it."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.app = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
        threading.Thread(target=self.app.serve_forever, daemon=True).start()
        self.addCleanup(self.app.server_close)
        self.addCleanup(self.app.shutdown)

    def start(self, command, port):
        log = self.folder / (pathlib.Path(command[0]).name + ".log")
        with log.open("w") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_for(port, process, log)
        return process

    def start_weir(self, rules, protocol):
        (self.folder / "rules.yaml").write_text(rules)
        self.weir_port = free_port()
        ports = {name: "" for name in ("http", "grpc", "resp", "admin")}
        ports[protocol] = f"127.0.0.1:{self.weir_port}"
        self.weir = self.start(
            [OPTIONS.weir, "serve", "--state", "memory", "--max-keys", "1000", "--threads", "1",
             "--rules", str(self.folder / "rules.yaml"), "--gateway", "127.0.0.1/32",
             *[word for name, port in ports.items() for word in (f"--{name}", port)]],
            self.weir_port)

    def stop_weir(self):
        self.weir.kill()
        self.weir.wait()

    def start_envoy(self, block, printed_port, changes, patience="60s"):
        self.port = free_port()
        text = adapted(page_block(block), {
            "0.0.0.0, port_value: 80}": f"127.0.0.1, port_value: {self.port}}}",
            f"port_value: {printed_port}": f"port_value: {self.weir_port}",
            "port_value: 3000": f"port_value: {self.app.server_port}",
            "timeout: 0.1s": f"timeout: {patience}", **changes})
        (self.folder / "envoy.yaml").write_text(text)
        self.start([OPTIONS.envoy, "-c", str(self.folder / "envoy.yaml"), "--use-dynamic-base-id",
                    "--concurrency", "1", "--log-level", "warn"], self.port)

    def ask(self, path, client="127.0.0.2", method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60,
                                                source_address=(client, 0))
        connection.request(method, path, body,
                           {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer


class ByHttp(EnvoyTest):
    def begin(self, patience="60s", changes=None):
        self.start_weir(RULES, "http")
        self.start_envoy("# /etc/envoy/envoy.yaml, by HTTP", 8080, changes or {}, patience)

    def test_what_is_allowed_reaches_the_application_and_what_is_not_does_not(self):
        self.begin()
        for remaining in (1, 0):
            answer = self.ask("/orders?page=1")
            self.assertEqual((answer.status, answer.text), (200, "GET /orders?page=1\n"))
            self.assertIn(f'"orders";r={remaining};t=', answer.getheader("RateLimit"))
            self.assertEqual(answer.getheader("RateLimit-Policy"), '"orders";q=2;w=3600')
        answer = self.ask("/orders")
        self.assertEqual(answer.status, 429)
        self.assertGreater(int(answer.getheader("Retry-After")), 0)
        self.assertIn('"orders";r=0;t=', answer.getheader("RateLimit"))
        self.assertEqual(answer.getheader("Content-Type"), "application/problem+json")
        self.assertIn("#quota-exceeded", answer.text)

    def test_what_counts_is_who_connects_and_not_what_it_writes(self):
        self.begin()
        lies = {"X_Forwarded_For": "203.0.113.7", "Forwarded": "for=203.0.113.7",
                "X_Forwarded_Uri": "/other", "X_Original_URI": "/other", "X_Weir_Cost": "0",
                "X_Forwarded_Method": "PUT", "X_Weir_Namespace": "nobodys"}
        self.assertEqual([self.ask("/orders", **lies).status for _ in range(3)], [200, 200, 429])
        self.assertEqual(self.ask("/orders", client="127.0.0.3").status, 200)

    def test_each_path_method_and_key_has_its_rules(self):
        self.begin()
        self.assertEqual(self.ask("/writes", method="POST", body="a=b").text, "POST /writes\na=b")
        self.assertEqual(self.ask("/writes", method="POST", body="a=b").status, 429)
        self.assertEqual(self.ask("/writes").status, 200)
        self.assertIsNone(self.ask("/other").getheader("RateLimit"))
        self.assertEqual([self.ask("/keyed", X_API_Key=key).status for key in "aab"],
                         [200, 429, 200])

    def test_without_weir_requests_pass(self):
        self.begin()
        self.stop_weir()
        self.assertEqual([self.ask("/orders").status for _ in range(3)], [200, 200, 200])

    def test_or_are_refused_if_that_is_the_choice(self):
        self.begin(changes={"failure_mode_allow: true": "failure_mode_allow: false"})
        self.stop_weir()
        self.assertEqual(self.ask("/orders").status, 503)

    def test_a_refusal_with_a_status_of_5xx_is_taken_for_a_failure(self):
        # The page warns of it.
        self.begin()
        self.assertEqual(self.ask("/closed").status, 200)

    def test_a_weir_that_is_too_slow_is_a_weir_that_is_down(self):
        self.begin(patience="0.1s")
        self.assertEqual([self.ask("/slow").status for _ in range(3)], [200, 200, 200])


class ByGrpc(EnvoyTest):
    def begin(self, patience="60s", changes=None):
        self.start_weir(page_block("domain: shop"), "grpc")
        self.start_envoy("# /etc/envoy/envoy.yaml, by gRPC", 8081, changes or {}, patience)

    def test_what_is_allowed_reaches_the_application_and_what_is_not_does_not(self):
        self.begin()
        for remaining in ("1", "0"):
            answer = self.ask("/orders")
            self.assertEqual((answer.status, answer.text), (200, "GET /orders\n"))
            self.assertEqual(answer.getheader("X-RateLimit-Remaining"), remaining)
        answer = self.ask("/orders")
        self.assertEqual(answer.status, 429)
        self.assertEqual(answer.getheader("X-RateLimit-Remaining"), "0")
        self.assertGreater(int(answer.getheader("X-RateLimit-Reset")), 0)
        self.assertNotIn("GET /orders", answer.text)

    def test_each_client_and_each_path_is_counted_by_itself(self):
        self.begin()
        lies = {"X_Forwarded_For": "203.0.113.7", "X_Weir_Cost": "0"}
        self.assertEqual([self.ask("/orders", **lies).status for _ in range(3)], [200, 200, 429])
        self.assertEqual(self.ask("/orders", client="127.0.0.3").status, 200)
        self.assertEqual([self.ask("/other").status for _ in range(3)], [200, 200, 200])

    def test_a_body_goes_to_the_application_whole(self):
        self.begin()
        body = "x" * 500_000 + "end"
        self.assertEqual(self.ask("/orders", method="POST", body=body).text, "POST /orders\n" + body)

    def test_without_weir_requests_pass(self):
        self.begin()
        self.stop_weir()
        self.assertEqual([self.ask("/orders").status for _ in range(3)], [200, 200, 200])

    def test_or_are_refused_if_that_is_the_choice(self):
        self.begin(changes={"failure_mode_deny: false": "failure_mode_deny: true"})
        self.stop_weir()
        self.assertEqual(self.ask("/orders").status, 500)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Envoy asks Weir.")
    parser.add_argument("--weir", required=True)
    parser.add_argument("--envoy", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
