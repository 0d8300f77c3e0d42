"""A server in a network of its own, whose way to Redis can be cut without anybody being told.

Two pairs of virtual interfaces lead to the network namespace, one for clients and one to Redis. The
cut is a wrong hardware address at both ends of the second: packets are dropped in silence, as by a
broken switch. Links that are taken down would tell the kernel, and with it the server.
"""

import ipaddress
import os
import subprocess

NOWHERE = "02:00:00:00:00:fe"


def why_not():
    """Why this cannot be done here, or None."""
    if os.geteuid() != 0:
        return "skipped: needs root"
    try:
        subprocess.run(["ip", "netns", "list"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"skipped: needs ip netns ({error})"
    return None


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Network:
    # Addresses that are kept for measurements between networks (RFC 2544): eight for each process.
    ADDRESSES = ipaddress.ip_network("198.18.0.0/15")

    def __init__(self):
        self.name = f"weir-trial-{os.getpid()}"
        number = os.getpid() % (self.ADDRESSES.num_addresses // 8)
        first = self.ADDRESSES[8 * number]
        self.redis, self.server_to_redis = str(first + 1), str(first + 2)
        self.clients, self.server_to_clients = str(first + 5), str(first + 6)
        self.outside = f"wt{number}r"
        self.links = {self.outside: (self.redis, self.server_to_redis),
                      f"wt{number}c": (self.clients, self.server_to_clients)}
        ip("netns", "add", self.name)
        try:
            ip("-n", self.name, "link", "set", "lo", "up")
            for link, (here, there) in self.links.items():
                ip("link", "add", link, "type", "veth", "peer", "name", link, "netns", self.name)
                ip("addr", "add", f"{here}/30", "dev", link)
                ip("-n", self.name, "addr", "add", f"{there}/30", "dev", link)
                ip("link", "set", link, "up")
                ip("-n", self.name, "link", "set", link, "up")
        except BaseException:
            self.remove()
            raise

    def inside(self, command):
        return ["ip", "netns", "exec", self.name, *command]

    def cut(self):
        wrong = ("dev", self.outside, "lladdr", NOWHERE, "nud", "permanent")
        ip("-n", self.name, "neigh", "replace", self.redis, *wrong)
        ip("neigh", "replace", self.server_to_redis, *wrong)

    def repair(self):
        ip("-n", self.name, "neigh", "del", self.redis, "dev", self.outside)
        ip("neigh", "del", self.server_to_redis, "dev", self.outside)

    def remove(self):
        subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True)
        for link in self.links:  # gone with the namespace, unless it never got there
            subprocess.run(["ip", "link", "del", link], check=False, capture_output=True)
