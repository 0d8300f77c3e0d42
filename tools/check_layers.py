#!/usr/bin/env python3
"""Checks that no source includes what stands above it.

    tools/check_layers.py [root]

The tree is the architecture: a folder of src/ may include itself, the folders before it in LAYERS
and the public headers; the public headers include the standard library and each other, nothing
else. Tests (*_test.cc) look at the code from outside and may include what they like.
"""

import pathlib
import re
import sys

# From the bottom to the top.
LAYERS = [
    "base", "algorithm", "table", "rule", "limiter", "trace", "wire", "net", "authority", "sim",
    "catalog", "service", "frontend", "server",
]

# What a folder does without although the order would let it: (pattern of the include, the reason).
THREADS_AND_IO = (
    r"thread|mutex|shared_mutex|condition_variable|iostream|spdlog/.*",
    "neither locks, starts threads nor logs; do that in the caller")
FORBIDDEN = {
    "algorithm": [THREADS_AND_IO],
    "table": [
        THREADS_AND_IO,
        (r"algorithm/.*",
         "does not know which algorithm it stores; hand the step in from limiter/"),
    ],
}

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    """Yields (line number, bracket, included path)."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def source_error(layer, bracket, included):
    """What is wrong with a file of `layer` including `included`, or None."""
    for pattern, reason in FORBIDDEN.get(layer, []):
        if re.fullmatch(pattern, included):
            return f"{layer}/ must not include {included}: it {reason}"
    folder, slash, _ = included.partition("/")
    if bracket == "<" or folder == "weir":
        return None
    if not slash or folder not in LAYERS:
        return f'write "{included}" as a path from src/ ("folder/file.h"), or <...> if not ours'
    if LAYERS.index(folder) > LAYERS.index(layer):
        return (f"{layer}/ must not include {included}: {folder}/ stands above it; move what is "
                f"needed down, or the caller up")
    return None


def public_error(bracket, included):
    """What is wrong with a public header including `included`, or None."""
    if bracket == '"' and included.startswith("weir/"):
        return None
    if bracket == "<" and re.fullmatch(r"[a-z_0-9]+", included):
        return None
    return (f"a public header must not include {included}: only the standard library and "
            f'"weir/..." may show; move what needs it into src/')


def check(root):
    """Returns the errors of the tree at `root`, and how many files it read."""
    errors, files = [], 0
    for path in sorted((root / "include").rglob("*.h")):
        files += 1
        for line, bracket, included in includes(path):
            if error := public_error(bracket, included):
                errors.append(f"{path.relative_to(root)}:{line}: {error}")
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cc") or path.name.endswith("_test.cc"):
            continue
        files += 1
        where = path.relative_to(root)
        layer = where.parts[1]
        if layer not in LAYERS:
            errors.append(f"{where}:1: src/{layer} is no layer; give it a place in LAYERS in "
                          f"tools/check_layers.py, or move the file into one that has")
            continue
        for line, bracket, included in includes(path):
            if error := source_error(layer, bracket, included):
                errors.append(f"{where}:{line}: {error}")
    if files == 0:
        errors.append(f"{root}: no sources in include/ and src/")
    return errors, files


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    errors, files = check(root)
    for error in errors:
        print(error, file=sys.stderr)
    print(f"layers: {files} files, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
