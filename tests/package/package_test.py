#!/usr/bin/python3
"""Tries the Debian package as an administrator would: installs it, starts the server as its unit says,
asks it, reloads it, upgrades it, removes it and purges it.

    package_test.py weir.deb

It changes the system that it runs on. tools/test_package.sh gives it one to throw away. systemd does
not run there: its part, the user, the folder, the socket of notifications, is played here.
"""

import configparser
import fcntl
import json
import os
import pathlib
import pwd
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import unittest

DEB = sys.argv.pop(1)
CONFIGURATION = pathlib.Path("/etc/weir/weir.yaml")
RULES = pathlib.Path("/etc/weir/rules.yaml")
STATE = pathlib.Path("/var/lib/weir")
UNIT = pathlib.Path("/lib/systemd/system/weir.service")
PATIENCE = 60  # seconds; only what is broken takes so long


def run(*command, check=True):
    done = subprocess.run(command, check=False, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if check and done.returncode != 0:
        raise AssertionError(f"{shlex.join(command)} failed ({done.returncode}):\n{done.stdout}")
    return done.stdout


def loopback_up():
    """A network of its own begins with nothing that is up. As `ip link set lo up`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        get_flags, set_flags, is_up = 0x8913, 0x8914, 1
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack_from("16sh", fcntl.ioctl(any_socket, get_flags, request))[1]
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh22x", b"lo", flags | is_up))


def unit():
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(UNIT)
    return parser["Service"]


class Server:
    """The server, started as systemd would."""

    def __init__(self):
        user = pwd.getpwnam(unit()["User"])
        STATE.mkdir(mode=0o750, exist_ok=True)  # StateDirectory=weir
        os.chown(STATE, user.pw_uid, user.pw_gid)
        path = "/run/weir-notify"
        self.notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notifications.bind(path)
        os.chmod(path, 0o777)
        self.notifications.settimeout(PATIENCE)
        self.process = subprocess.Popen(
            shlex.split(unit()["ExecStart"]), cwd=unit()["WorkingDirectory"], user=user.pw_uid,
            group=user.pw_gid, extra_groups=[], umask=0o027, text=True,
            env={"PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": path},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def notified(self):
        try:
            return self.notifications.recv(4096).decode()
        except TimeoutError:
            self.process.kill()
            raise AssertionError("not a word: " + self.process.stderr.read()) from None

    def reload(self):
        self.process.send_signal(signal.SIGHUP)  # ExecReload
        return [self.notified(), self.notified()]

    def end(self):
        """Ends it; what it logged."""
        self.process.send_signal(signal.SIGTERM)
        log = self.process.communicate(timeout=PATIENCE)[1]
        self.notifications.close()
        os.unlink("/run/weir-notify")
        return log


def ask(path):
    return run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", str(PATIENCE),
               "http://127.0.0.1:8080" + path)


def health_check():
    """The exit code of the container's: its command, run here."""
    text = pathlib.Path("/package/Dockerfile").read_text().replace("\\\n", "")
    command = json.loads(re.search(r"^HEALTHCHECK .*? CMD (\[.*\])$", text, re.MULTILINE)[1])
    return subprocess.run(command, check=False, timeout=PATIENCE).returncode


class PackageTest(unittest.TestCase):
    """In the order of their names: what one leaves, the next finds."""

    def test_1_is_installed_with_its_user_and_configuration(self):
        run("dpkg", "--install", DEB)
        self.assertEqual(pwd.getpwnam("weir").pw_dir, str(STATE))
        self.assertEqual(pwd.getpwnam("weir").pw_shell, "/usr/sbin/nologin")
        self.assertEqual(CONFIGURATION.stat().st_mode & 0o777, 0o640, "it may hold a password")
        self.assertEqual(CONFIGURATION.group(), "weir")
        self.assertRegex(run("weir", "--version"), r"^\d+\.\d+\.\d+\n$")
        conffiles = run("dpkg-query", "-W", "-f", "${Conffiles}", "weir")
        self.assertIn("/etc/weir/weir.yaml", conffiles)
        self.assertIn("/etc/weir/rules.yaml", conffiles)

    def test_2_has_a_unit_that_systemd_understands_and_that_is_shut_in(self):
        self.assertEqual(run("systemd-analyze", "verify", "--man=no", str(UNIT)), "")
        # 20 of 100: what is left is what a server on a network needs.
        run("systemd-analyze", "security", "--offline=yes", "--threshold=20", str(UNIT))

    def test_3_has_a_manual_page_and_completions(self):
        self.assertIn("weir rules history", run("man", "--pager=cat", "weir"))
        self.assertIn("serve\n", run("bash", "-c", ". /usr/share/bash-completion/completions/weir; "
                                     "COMP_WORDS=(weir ser); COMP_CWORD=1; _weir; "
                                     "echo ${COMPREPLY[*]}"))
        for name in ("zsh/vendor-completions/_weir", "fish/vendor_completions.d/weir.fish"):
            self.assertGreater(pathlib.Path("/usr/share", name).stat().st_size, 0)

    def test_4_its_configuration_passes_its_own_check(self):
        said = run("weir", "serve", "--config", str(CONFIGURATION), "--check")
        self.assertIn("nothing is wrong", said)
        self.assertFalse(STATE.exists(), "a check makes nothing")

    def test_5_serves_as_packaged_reloads_and_ends(self):
        self.assertNotEqual(health_check(), 0)
        server = Server()
        self.assertIn("READY=1", server.notified())
        self.assertEqual(health_check(), 0)
        self.assertEqual([ask("/check/hello") for _ in range(4)], ["200", "200", "200", "429"])
        self.assertEqual(ask("/readyz"), "200")
        # Who may read its folder may administer it.
        self.assertIn("127.0.0.1:8080", run("weir", "status", "--state", str(STATE)))

        RULES.write_text(RULES.read_text().replace("3/10s", "5/10s"))
        told = server.reload()
        self.assertIn("RELOADING=1\nMONOTONIC_USEC=", told[0])
        self.assertIn("READY=1", told[1])
        self.assertEqual(ask("/check/hello"), "200", "two more")

        RULES.write_text("rules: nonsense\n")
        server.reload()
        self.assertEqual(ask("/readyz"), "200", "the last good rules stay in force")
        log = server.end()
        self.assertEqual(server.process.returncode, 0, log)
        for event in ("started", "rules_replaced", "reloaded", "rules_refused", "reload_failed",
                      "stopping", "stopped"):
            self.assertIn(f" {event}: ", log)

    def test_6_an_upgrade_keeps_what_the_administrator_wrote(self):
        RULES.write_text("namespace: default\nrules: [{name: mine, limit: 1/h}]\n")
        CONFIGURATION.chmod(0o600)
        run("dpkg", "--install", DEB)
        self.assertIn("mine", RULES.read_text())
        self.assertEqual(CONFIGURATION.stat().st_mode & 0o777, 0o600)
        CONFIGURATION.chmod(0o640)
        server = Server()
        self.assertIn("READY=1", server.notified())
        self.assertEqual([ask("/check") for _ in range(2)], ["200", "429"])
        server.end()

    def test_7_what_was_counted_survives_a_restart(self):
        server = Server()
        self.assertIn("READY=1", server.notified())
        self.assertEqual(ask("/check"), "429")
        server.end()

    def test_8_to_remove_it_leaves_configuration_and_counts(self):
        run("dpkg", "--remove", "weir")
        self.assertFalse(pathlib.Path("/usr/bin/weir").exists())
        self.assertTrue(RULES.exists())
        self.assertTrue(any(STATE.iterdir()))

    def test_9_to_purge_it_leaves_nothing(self):
        run("dpkg", "--purge", "weir")
        self.assertFalse(CONFIGURATION.parent.exists())
        self.assertFalse(STATE.exists())
        self.assertEqual(run("dpkg-query", "-W", "-f", "${db:Status-Status}", "weir", check=False)
                         .replace("not-installed", ""),
                         "dpkg-query: no packages found matching weir\n")


if __name__ == "__main__":
    loopback_up()
    unittest.main(verbosity=2, failfast=True)
