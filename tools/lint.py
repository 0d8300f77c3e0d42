#!/usr/bin/env python3
"""clang-tidy over the sources (not their tests), shellcheck over the scripts. Any warning fails.

    tools/lint.py build     where build/ is built: its compile commands and dependencies are used

A source that passed is not looked at again until it, a header that it includes, its command or
.clang-tidy changes: what passed is remembered in ~/.cache/weir-lint, as ccache remembers objects,
so that a fresh clone on the same machine has little to do.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = [".ci/run", "packaging/debian/postinst", "packaging/debian/prerm",
           "packaging/debian/postrm"]
# The compile commands may be GCC's, with warning options that clang does not know.
TIDY = ["clang-tidy", "--quiet", "--warnings-as-errors=*",
        "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wreserved-identifier"]
OUTPUT = re.compile(r" -o (\S+)")
KEEP_DAYS = 30


def passed_folder():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(cache) / "weir-lint"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def dependencies(build):
    """What each object was made from, as the last build knows: {object: [path]}."""
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], check=True,
                            capture_output=True, text=True).stdout
    found, target = {}, None
    for line in listed.splitlines():
        if line.startswith("    "):
            found[target].append(build / line.strip())
        elif ": #deps" in line:
            target = line.split(": #deps")[0]
            found[target] = []
    return found


def sources(build):
    """Yields (source, its command, what it was made from) of what is ours and no test."""
    made_from = dependencies(build)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if not source.is_relative_to(ROOT / "src") or source.name.endswith("_test.cc"):
            continue
        made = OUTPUT.search(entry["command"])
        yield source, entry["command"], made_from.get(made[1]) if made else None


def key_of(source, command, made_from, digests):
    """Changes with everything that clang-tidy sees; None if that is not known."""
    if made_from is None:
        return None
    ours = sorted({path.resolve() for path in [source, *made_from]
                   if path.resolve().is_relative_to(ROOT)})
    text = [command.replace(str(ROOT), ""), " ".join(TIDY)]
    for path in ours:
        if path not in digests:
            digests[path] = hashlib.sha256(path.read_bytes()).hexdigest()
        text.append(f"{path.relative_to(ROOT)} {digests[path]}")
    return hashlib.sha256("\n".join(text).encode()).hexdigest()


def tidy(build, source, stamp):
    result = subprocess.run([*TIDY, "-p", str(build), str(source)], cwd=ROOT,
                            capture_output=True, text=True)
    if result.returncode != 0:
        return f"{result.stdout}{result.stderr}"
    if stamp:
        stamp.touch()
    return None


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    scripts = [*SCRIPTS, *(str(path) for path in sorted((ROOT / "tools").glob("*.sh")))]
    subprocess.run(["shellcheck", *scripts], cwd=ROOT, check=True)

    folder = passed_folder()
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True).stdout
    digests = {}
    common = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes()).hexdigest()
    todo, seen = [], 0
    for source, command, made_from in sources(build):
        seen += 1
        key = key_of(source, common + command, made_from, digests)
        stamp = folder / key if key else None
        if stamp and stamp.exists():
            os.utime(stamp)
        else:
            todo.append((source, stamp))
    if not seen:
        sys.exit(f"{build}: no compile commands of src/; run cmake --preset release first")
    print(f"clang-tidy: {len(todo)} of {seen} sources have changed since they passed", flush=True)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {pool.submit(tidy, build, source, stamp): source for source, stamp in todo}
        for run in concurrent.futures.as_completed(runs):
            print("clang-tidy", runs[run].relative_to(ROOT), flush=True)
            if complaint := run.result():
                failed += 1
                print(complaint, flush=True)
    subprocess.run(["find", str(folder), "-mtime", f"+{KEEP_DAYS}", "-delete"], check=True)
    if failed:
        sys.exit(f"clang-tidy: {failed} sources did not pass")


if __name__ == "__main__":
    main()
