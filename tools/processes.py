"""Processes that a tool starts, waits for and ends, and the ports they listen on."""

import pathlib
import shlex
import socket
import subprocess
import time


class DoesNotListen(Exception):
    """A process that was started has ended, or is not there after a long time."""


def is_open(port, host="127.0.0.1"):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def free_port(host="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


class Process:
    """One that listens on a port. What it says is in a file."""

    def __init__(self, command, port, log, host="127.0.0.1"):
        self.command, self.port, self.log, self.host = command, port, pathlib.Path(log), host
        self.process = None
        self.start()

    def start(self):
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(self.command, stdout=out, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 30
        while not is_open(self.port, self.host):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise DoesNotListen(f"{shlex.join(self.command)} does not listen:\n"
                                    + self.log.read_text(errors="replace"))
            time.sleep(0.02)

    def send(self, signal):
        self.process.send_signal(signal)

    def is_running(self):
        return self.process.poll() is None

    def stop(self):
        """Its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
