#!/usr/bin/env python3
"""Checks that what the documentation shows is there and works.

    tools/check_docs.py --build build [root]

- Every relative link in the *.md of the root and of docs/ leads to a file, and to a heading if it
  names one.
- Every ```trace block runs: `weir trace FILE` says that each line is answered as written.
- Every ```yaml block that is a whole file of rules (it begins with `namespace:` or `domain:`)
  passes `weir rules check -`.
- Every ```console block with a `$ weir ...` is run, and prints what it says. The blocks of a page
  share a folder and go on where the one before ended; times are any times, the user is ann.
- Every ```cpp block that includes <weir/weir.h> compiles. With an `int main` it is a program and is
  linked too. Otherwise it is what one would write inside a function: its preprocessor lines stay in
  front, the rest becomes the body of one.
- Every public header compiles on its own.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CXX = os.environ.get("CXX", "c++")
FENCE = re.compile(r"^ {0,3}(```+|~~~+)\s*(.*?)\s*$")
INLINE_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)")
REFERENCE_LINK = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)")
HTML_LINK = re.compile(r"<(?:a|img)\s[^>]*?(?:href|src)=\"([^\"]+)\"")
HTML_ANCHOR = re.compile(r"<[a-z0-9]+\s[^>]*?(?:id|name)=\"([^\"]+)\"")
RULES = re.compile(r"(?:namespace|domain):")
HERE_DOCUMENT = re.compile(r"<<\s*'?(\w+)'?")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")


class Page:
    """A Markdown file: its prose lines without code, and its fenced blocks."""

    def __init__(self, path):
        self.prose = []   # (line number, text)
        self.blocks = []  # (line number of the fence, info string, text)
        fence = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = FENCE.match(line)
            if fence is None and match:
                fence, first, info, lines = match[1], number, match[2], []
            elif fence is not None and match and match[1].startswith(fence) and not match[2]:
                self.blocks.append((first, info, "\n".join(lines) + "\n"))
                fence = None
            elif fence is not None:
                lines.append(line)
            else:
                self.prose.append((number, line))
        self.unclosed = None if fence is None else first

    def links(self):
        for number, line in self.prose:
            line = re.sub(r"`[^`]*`", "", line)
            for pattern in (INLINE_LINK, REFERENCE_LINK, HTML_LINK):
                for match in pattern.finditer(line):
                    yield number, match[1]

    def anchors(self):
        """The names of its headings, as the web shows them."""
        names = set()
        for _, line in self.prose:
            names.update(HTML_ANCHOR.findall(line))
            if match := HEADING.match(line):
                text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", match[1])
                slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
                name, again = slug, 0
                while name in names:
                    again += 1
                    name = f"{slug}-{again}"
                names.add(name)
        return names


def pages(root):
    return sorted(root.glob("*.md")) + sorted((root / "docs").rglob("*.md"))


def check_links(root, path):
    page = Page(path)
    where = path.relative_to(root)
    if page.unclosed:
        yield f"{where}:{page.unclosed}: this code block is never closed; end it with its fence"
    for line, link in page.links():
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        name, _, anchor = link.partition("#")
        target = path if not name else root / name[1:] if name[0] == "/" else path.parent / name
        if not target.exists():
            yield f"{where}:{line}: no file {link}; correct the link or write the page"
        elif anchor and target.suffix == ".md" and anchor not in Page(target).anchors():
            yield f"{where}:{line}: no heading for {link}; correct the link or the heading"


def run(command, text=None):
    """Runs a command; returns None, or what it said when it failed."""
    try:
        done = subprocess.run(command, input=text, text=True, timeout=120, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        return str(error)
    except subprocess.TimeoutExpired:
        return "did not end within 120 s"
    return None if done.returncode == 0 else done.stdout or f"exit code {done.returncode}"


def failed(where, what, output):
    return f"{where}: {what}\n" + "\n".join("    " + line for line in output.splitlines())


def check_trace(build, where, text):
    with tempfile.NamedTemporaryFile("w", suffix=".trace") as file:
        file.write(text)
        file.flush()
        if output := run([build / "weir", "trace", file.name]):
            yield failed(where, "this trace is not what happens; correct the expected answers",
                         output)


def check_rules(build, where, text):
    if output := run([build / "weir", "rules", "check", "-"], text):
        yield failed(where, "these rules are refused; correct them", output)


def steps(text):
    """Yields the commands of a console block, each with the output that it shows."""
    lines = text.splitlines()
    while lines:
        command, shown = [lines.pop(0).removeprefix("$ ")], []
        if end := HERE_DOCUMENT.search(command[0]):
            while lines and command[-1] != end[1]:
                command.append(lines.pop(0))
        while lines and not lines[0].startswith("$ "):
            shown.append(lines.pop(0))
        yield "\n".join(command), "\n".join(shown)


def run_step(build, folder, command):
    environment = {"PATH": f"{build}:{os.environ['PATH']}", "USER": "ann", "LC_ALL": "C.UTF-8"}
    try:
        return subprocess.run(["sh", "-c", command], cwd=folder, env=environment, timeout=120,
                              text=True, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    except subprocess.TimeoutExpired:
        return "did not end within 120 s"


def check_session(build, blocks):
    """`blocks`: (where, text) of each block of one page."""
    with tempfile.TemporaryDirectory() as folder:
        for where, text in blocks:
            for command, shown in steps(text):
                printed = run_step(build, folder, command).rstrip("\n")
                if TIME.sub("TIME", printed) != TIME.sub("TIME", shown.rstrip("\n")):
                    yield failed(where, f"`{command.splitlines()[0]}` prints something else; show "
                                 "this", printed)


def compile_command(root):
    return [CXX, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", root / "include",
            "-x", "c++", "-"]


def link_flags(build):
    """As an installed weir.pc gives them, but for the library in the build directory."""
    environment = dict(os.environ, PKG_CONFIG_PATH=str(build))
    return subprocess.run(
        ["pkg-config", f"--define-variable=libdir={build}", "--static", "--libs", "weir"],
        env=environment, check=True, text=True, stdout=subprocess.PIPE).stdout.split()


def check_cpp(root, build, where, text):
    if re.search(r"\bint main\(", text):
        with tempfile.TemporaryDirectory() as directory:
            command = compile_command(root) + ["-o", f"{directory}/program", *link_flags(build)]
            output = run(command, text)
    else:
        lines = text.splitlines()
        front = [line for line in lines if line.lstrip().startswith("#")]
        body = [line for line in lines if not line.lstrip().startswith("#")]
        text = "\n".join([*front, "void Example() {", *body, "}", ""])
        # Examples name values only to show them.
        output = run(compile_command(root) + ["-fsyntax-only", "-Wno-unused-variable"], text)
    if output:
        yield failed(where, "this example does not compile", output)


def check_header(root, path):
    text = f"#include <{path.relative_to(root / 'include')}>\n"
    if output := run(compile_command(root) + ["-fsyntax-only"], text * 2):
        yield failed(path.relative_to(root), "does not compile on its own; include what it uses",
                     output)


def jobs(root, build):
    """Everything there is to check, as (function, arguments...)."""
    for path in pages(root):
        yield check_links, root, path
        session = []
        for line, info, text in Page(path).blocks:
            where = f"{path.relative_to(root)}:{line}"
            if info == "trace":
                yield check_trace, build, where, text
            elif info == "yaml" and RULES.match(text):
                yield check_rules, build, where, text
            elif info == "console" and re.search(r"^\$ weir ", text, re.MULTILINE):
                session.append((where, text))
            elif info == "cpp" and "#include <weir/weir.h>" in text:
                yield check_cpp, root, build, where, text
        if session:
            yield check_session, build, session
    for path in sorted((root / "include").rglob("*.h")):
        yield check_header, root, path


def check(root, build):
    """Returns the errors, and how often each check ran."""
    counts = dict.fromkeys(
        [check_links, check_trace, check_rules, check_session, check_cpp, check_header], 0)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = []
        for function, *arguments in jobs(root, build):
            counts[function] += 1
            results.append(pool.submit(lambda f=function, a=arguments: list(f(*a))))
        errors = [error for result in results for error in result.result()]
    if not counts[check_links] or not counts[check_header]:
        errors.append(f"{root}: no pages or no public headers; is this the repository?")
    return errors, counts


def main():
    parser = argparse.ArgumentParser(description="Checks links, traces, rules, sessions, examples and headers.")
    parser.add_argument("root", nargs="?", type=pathlib.Path,
                        default=pathlib.Path(__file__).parents[1])
    parser.add_argument("--build", type=pathlib.Path, required=True,
                        help="where `weir` and the library were built")
    arguments = parser.parse_args()

    errors, counts = check(arguments.root.resolve(), arguments.build.resolve())
    for error in errors:
        print(error, file=sys.stderr)
    print(f"docs: {counts[check_links]} pages, {counts[check_trace]} traces, "
          f"{counts[check_rules]} rule files, {counts[check_session]} sessions, "
          f"{counts[check_cpp]} examples, {counts[check_header]} headers, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
