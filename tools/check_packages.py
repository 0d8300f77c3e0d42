#!/usr/bin/env python3
"""Checks that the program can be built with the packages that `make serve` installs.

    tools/check_packages.py build

A machine on which the tests are built has more than that, and hides what is missing from the shorter
list. So each header that the build says it has read must come from a package of tools/packages.txt, or
from one that is installed along with those.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

LIST = pathlib.Path(__file__).parent / "packages.txt"


def listed(text):
    """The packages of a list, without the reasons."""
    return {line.split("#")[0].strip() for line in text.splitlines()} - {""}


def closure(roots, dependencies):
    """The roots and all that comes with them; `dependencies` has a set of names for each package."""
    found, rest = set(), list(roots)
    while rest:
        package = rest.pop()
        if package in found:
            continue
        found.add(package)
        rest.extend(dependencies.get(package, ()))
    return found


def depends(field):
    """The names in a field of dependencies. Of alternatives all that are there may have been meant."""
    return {re.split(r"[\s(:]", name.strip())[0] for name in re.split(r"[,|]", field)} - {""}


def read_headers(deps):
    """From what ninja tells of the objects of the program: which object needs which system header."""
    needed_by, target = {}, None
    for line in deps.splitlines():
        if line.startswith(" "):
            header = os.path.normpath(line.strip())
            if target and header.startswith("/usr/include/"):
                needed_by.setdefault(header, target)
        else:
            name = line.partition(":")[0]
            # Tests and benchmarks have a list of their own.
            target = name if re.match(r"CMakeFiles/weir(-cli|_rules|_services|_commands|_messages)?\.dir/",
                                      name) else None
    return needed_by


def missing(needed_by, owner_of, available):
    """Errors for headers whose package is not available: one for each package."""
    errors = {}
    for header, target in sorted(needed_by.items()):
        owner = owner_of.get(header)
        if owner is not None and owner not in available:
            errors.setdefault(owner, f"{target} reads {header} of {owner}, which tools/packages.txt "
                                     f"does not install: list {owner} there, with its reason")
    return list(errors.values())


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options).stdout


def installed_dependencies():
    """What each installed package brings along, also under the names that it stands for."""
    dependencies = {}
    form = "${Package}\t${Depends}, ${Pre-Depends}\t${Provides}\n"
    for line in run("dpkg-query", "-W", "-f", form).splitlines():
        package, brings, provides = line.split("\t")
        dependencies.setdefault(package, set()).update(depends(brings))
        for name in depends(provides):
            dependencies.setdefault(name, set()).add(package)
    return dependencies


def owners(headers):
    found = {}
    for line in run("dpkg", "-S", *sorted(headers)).splitlines():
        package, _, path = line.rpartition(": ")
        found[path] = package.split(",")[0].split(":")[0]
    return found


def main(build):
    if not shutil.which("dpkg-query"):
        print("packages: not a Debian system, nothing checked")
        return 0
    needed_by = read_headers(run("ninja", "-C", build, "-t", "deps", check=True))
    if not needed_by:
        print(f"packages: {build} has read no header of the system: build the program first")
        return 1
    available = closure(listed(LIST.read_text()), installed_dependencies())
    errors = missing(needed_by, owners(needed_by), available)
    for error in errors:
        print(error)
    print(f"packages: {len(needed_by)} headers, {len(errors)} packages missing from the list")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
