"""Does check_docs.py fail when it should, and only then?"""

import pathlib
import subprocess
import tempfile
import unittest

import check_docs

HEADER = "#pragma once\nnamespace weir { inline int One() { return 1; } int Linked(); }\n"


def fenced(info, text):
    return f"```{info}\n{text}\n```\n"


class CheckDocsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        # A build directory with a library, its weir.pc, and a program whose `trace` takes only
        # files that say "allow", whose `rules` takes only those that say "limit", and which else
        # tells who runs it and when, and what is in the file that is named.
        cls.directory = tempfile.TemporaryDirectory()
        cls.build = pathlib.Path(cls.directory.name)
        subprocess.run([check_docs.CXX, "-x", "c++", "-c", "-", "-o", cls.build / "linked.o"],
                       input="namespace weir { int Linked() { return 0; } }", text=True, check=True)
        subprocess.run(["ar", "rc", cls.build / "libweir.a", cls.build / "linked.o"], check=True)
        (cls.build / "weir.pc").write_text(
            "libdir=/nowhere\nName: weir\nDescription: weir\nVersion: 1\n"
            "Libs: -L${libdir} -lweir\n")
        program = cls.build / "weir"
        program.write_text(
            '#!/bin/sh\n'
            'case $1 in\n'
            'trace) grep allow "$2" ;;\n'
            'rules) grep limit ;;\n'
            '*) echo "$USER at 2026-01-31T12:00:00Z"; cat "$2" ;;\n'
            'esac\n')
        program.chmod(0o755)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def errors(self, files):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in {"include/weir/weir.h": HEADER, "README.md": "", **files}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_docs.check(root, self.build)[0]

    def assert_error(self, files, *words):
        errors = self.errors(files)
        self.assertEqual(len(errors), 1, errors)
        for word in words:
            self.assertIn(word, errors[0])

    def test_links_that_lead_somewhere_pass(self):
        self.assertEqual(self.errors({
            "README.md": "[a](docs/a.md#the-weir-library) [b](#twice-1) [c](docs) [d](docs/a.md)\n"
                         "[e](https://example.org/none) `[f](none.md)` [g][g]\n"
                         "# Twice\n# Twice\n[g]: docs/a.md\n" + fenced("text", "[h](none.md)"),
            "docs/a.md": "## The `weir` library\n[up](../README.md)\n",
        }), [])

    def test_a_link_to_no_file_fails_at_its_line(self):
        self.assert_error({"docs/a.md": "\n[a](b.md)\n"}, "docs/a.md:2: ", "b.md")
        self.assert_error({"README.md": "[a][a]\n\n[a]: b.md\n"}, "README.md:3: ")
        self.assert_error({"README.md": '<img src="b.png">\n'}, "README.md:1: ")

    def test_a_link_to_no_heading_fails(self):
        self.assert_error({"README.md": "# One\n[a](#two)\n"}, "README.md:2: ", "#two")
        self.assert_error({"README.md": "[a](docs/a.md#two)\n", "docs/a.md": "# One\n"}, "#two")

    def test_a_block_without_an_end_fails(self):
        self.assert_error({"README.md": "\n```cpp\n"}, "README.md:2: ", "never closed")

    def test_a_trace_passes_if_the_program_agrees(self):
        self.assertEqual(self.errors({"docs/a.md": fenced("trace", "0s allow")}), [])
        self.assert_error({"docs/a.md": fenced("trace", "0s deny")}, "docs/a.md:1: ", "trace")

    def test_a_file_of_rules_passes_if_the_program_takes_it(self):
        for first in ("namespace: a\n", "domain: a\n"):
            self.assertEqual(self.errors({"docs/a.md": fenced("yaml", first + "limit")}), [])
            self.assert_error({"docs/a.md": fenced("yaml", first)}, "docs/a.md:1: ", "rules")
        self.assertEqual(self.errors({"docs/a.md": fenced("yaml", "  by: [ip]")}), [])

    def test_a_session_is_run_in_one_folder_and_prints_what_it_says(self):
        made = fenced("console", "$ cat > a <<'END'\ntext\nEND\n$ weir show a\n"
                                 "ann at 2001-02-03T04:05:06Z\ntext")
        wrong = fenced("console", "$ weir show none 2> /dev/null; cat a\nbob at noon")
        self.assertEqual(self.errors({"docs/a.md": made}), [])
        self.assert_error({"docs/a.md": made + wrong}, "docs/a.md:9: ", "`weir show none",
                          "ann at ", "text")

    def test_a_program_is_compiled_and_linked(self):
        program = "#include <weir/weir.h>\nint main() { return weir::%s(); }"
        self.assertEqual(self.errors({"README.md": fenced("cpp", program % "Linked")}), [])
        self.assert_error({"README.md": fenced("cpp", program % "Two")}, "README.md:1: ", "Two")
        self.assert_error({
            "README.md": fenced("cpp", program % "Absent"),
            "include/weir/weir.h": HEADER + "namespace weir { int Absent(); }\n",
        }, "README.md:1: ", "undefined reference")

    def test_a_fragment_is_compiled_as_the_body_of_a_function(self):
        fragment = "#include <weir/weir.h>\nint one = weir::One();\nif (one != 1) return%s;"
        self.assertEqual(self.errors({"README.md": fenced("cpp", fragment % "")}), [])
        self.assert_error({"README.md": fenced("cpp", fragment % " 1")}, "README.md:1: ")

    def test_other_blocks_are_left_alone(self):
        self.assertEqual(self.errors({
            "README.md": fenced("cpp", "no code") + fenced("", "#include <weir/weir.h>\nnor this"),
        }), [])

    def test_a_header_that_needs_another_first_fails(self):
        self.assert_error({"include/weir/b.h": "#pragma once\ninline std::string name;\n"},
                          "include/weir/b.h", "on its own")

    def test_a_header_without_a_guard_fails(self):
        self.assert_error({"include/weir/b.h": "struct B {};\n"}, "include/weir/b.h")

    def test_an_empty_tree_fails(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(len(check_docs.check(pathlib.Path(directory), self.build)[0]), 1)


if __name__ == "__main__":
    unittest.main()
