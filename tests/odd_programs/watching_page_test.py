"""Every test that docs/what-watching-changes.md names exists, and each of its lines names one."""

import re
import unittest

from comparing import SOURCE
from odd_programs_test import all_programs

PAGE = SOURCE / "docs/what-watching-changes.md"
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")
ODD = re.compile(r"`odd::([^`]+)`")
MOST_WORDS = 20


class Page(unittest.TestCase):
    def setUp(self):
        self.text = PAGE.read_text()

    def test_each_line_of_its_lists_names_a_test(self):
        items = re.findall(r"^- (?:.|\n  )+", self.text, re.MULTILINE)
        self.assertGreater(len(items), 30)
        for item in items:
            self.assertTrue(TEST.search(item) or ODD.search(item), item)

    def test_the_tests_exist(self):
        for path, name in TEST.findall(self.text):
            source = (SOURCE / "tests" / path).read_text()
            self.assertIn(f"    def {name}(self", source, path)

    def test_the_odd_programs_exist(self):
        programs = all_programs()
        named = ODD.findall(self.text)
        self.assertGreater(len(named), 20)
        for name in named:
            self.assertTrue(any(program.startswith(name) for program in programs), name)

    def test_its_sentences_are_short(self):
        for sentence in re.split(r"(?<=[.:])\s+", re.sub(r"`[^`]*`", "x", self.text)):
            self.assertLessEqual(len(sentence.split()), MOST_WORDS, sentence)


if __name__ == "__main__":
    unittest.main()
