"""Does check_layers.py fail when it should, and only then?"""

import pathlib
import tempfile
import unittest

import check_layers


class CheckLayersTest(unittest.TestCase):

    def errors(self, files):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_layers.check(root)[0]

    def assert_error(self, files, *words):
        errors = self.errors(files)
        self.assertEqual(len(errors), 1, errors)
        for word in words:
            self.assertIn(word, errors[0])

    def test_a_tree_that_only_looks_down_passes(self):
        self.assertEqual(self.errors({
            "include/weir/limiter.h": '#include <memory>\n#include "weir/units.h"\n',
            "src/base/hash.h": '#include <xxhash.h>\n#include "weir/units.h"\n',
            "src/limiter/limiter.cc":
                '#include "weir/limiter.h"\n#include <mutex>\n#include "table/table.h"\n',
            "src/server/main.cc": '#include "limiter/limiter.h"\n#include "server/demo.h"\n',
        }), [])

    def test_an_upward_include_fails_at_its_line(self):
        self.assert_error({"src/base/hash.h": '#pragma once\n\n#include "limiter/limiter.h"\n'},
                          "src/base/hash.h:3: ", "limiter/ stands above")

    def test_the_table_does_not_know_the_algorithms_below_it(self):
        self.assert_error({"src/table/table.h": '#include "algorithm/bucket.h"\n'},
                          "src/table/table.h:1: ", "which algorithm")

    def test_algorithms_and_tables_do_without_threads_and_logs(self):
        for layer in ("algorithm", "table"):
            for header in ("thread", "mutex", "iostream", "spdlog/spdlog.h"):
                self.assert_error({f"src/{layer}/x.cc": f"# include <{header}>\n"}, header)

    def test_a_test_may_include_what_it_likes(self):
        self.assertEqual(self.errors({
            "src/table/table.h": "",
            "src/table/table_test.cc": '#include <thread>\n#include "trace/run.h"\n',
        }), [])

    def test_a_public_header_shows_neither_the_inside_nor_other_libraries(self):
        for include in ('"table/table.h"', "<absl/time/time.h>", "<xxhash.h>", '"units.h"'):
            self.assert_error({"include/weir/limiter.h": f"#include {include}\n"},
                              "include/weir/limiter.h:1: ", "public header")

    def test_an_include_is_a_path_from_src(self):
        for include in ('"table.h"', '"../base/hash.h"'):
            self.assert_error({"src/table/table.cc": f"#include {include}\n"}, "path from src/")

    def test_a_folder_without_a_place_fails(self):
        self.assert_error({"src/misc/x.h": ""}, "src/misc is no layer")

    def test_an_empty_tree_fails(self):
        self.assert_error({}, "no sources")


if __name__ == "__main__":
    unittest.main()
