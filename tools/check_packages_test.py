import unittest

import check_packages

DEPS = """CMakeFiles/weir_services.dir/src/catalog/rule_store.cc.o: #deps 3, deps mtime 1 (VALID)
    ../src/catalog/rule_store.h
    /usr/include/soci/soci.h
    /usr/include/c++/12/../../boost/any.hpp

CMakeFiles/weir_tests.dir/src/base/time_test.cc.o: #deps 1, deps mtime 1 (VALID)
    /usr/include/gtest/gtest.h
"""


class CheckPackagesTest(unittest.TestCase):
    def test_reads_the_headers_of_the_program_and_not_those_of_its_tests(self):
        self.assertEqual(set(check_packages.read_headers(DEPS)),
                         {"/usr/include/soci/soci.h", "/usr/include/boost/any.hpp"})

    def test_a_header_of_a_package_that_is_not_listed_is_an_error_that_names_all_three(self):
        errors = check_packages.missing({"/usr/include/boost/any.hpp": "rule_store.cc.o"},
                                        {"/usr/include/boost/any.hpp": "libboost1.74-dev"},
                                        {"libsoci-dev"})
        self.assertEqual(len(errors), 1)
        for part in ("rule_store.cc.o", "/usr/include/boost/any.hpp", "libboost1.74-dev"):
            self.assertIn(part, errors[0])

    def test_a_header_of_a_package_that_comes_along_is_none(self):
        available = check_packages.closure({"libboost-dev"}, {"libboost-dev": {"libboost1.74-dev"}})
        self.assertEqual(check_packages.missing({"/usr/include/boost/any.hpp": "rule_store.cc.o"},
                                                {"/usr/include/boost/any.hpp": "libboost1.74-dev"},
                                                available), [])

    def test_dependencies_that_go_in_circles_end(self):
        self.assertEqual(check_packages.closure({"a"}, {"a": {"b"}, "b": {"a"}}), {"a", "b"})

    def test_versions_alternatives_and_architectures_are_not_part_of_a_name(self):
        self.assertEqual(check_packages.depends("libc6 (>= 2.36), a | b, python3:any, , "),
                         {"libc6", "a", "b", "python3"})

    def test_a_list_is_read_without_its_reasons(self):
        self.assertEqual(check_packages.listed("# head\n\ng++   # the compiler\ncmake\n"), {"g++", "cmake"})


if __name__ == "__main__":
    unittest.main()
