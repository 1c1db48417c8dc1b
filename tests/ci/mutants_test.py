"""Mutants change code, never a text or a comment, and the same seed draws the same ones."""

import pathlib
import tempfile
import unittest

from loading import script

mutants = script("mutants")


def changed(name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.write_text(text)
        return [(number, new) for number, _, new in mutants.sites(path)]


class Mutants(unittest.TestCase):
    def test_each_operator_of_a_line_is_a_place(self):
        self.assertEqual(changed("a.cc", "if (a < b && c == 0) return;\n"),
                         [(0, "if (a <= b && c == 0) return;"), (0, "if (a < b && c != 0) return;"),
                          (0, "if (a < b || c == 0) return;")])  # fmt: skip

    def test_texts_comments_and_includes_are_left_alone(self):
        self.assertEqual(changed("a.cc", '// a < b\nsay("a < b");\n#include <a>\ntemplate <a < b>\n'), [])
        self.assertEqual(changed("a.py", '"""One < two\nthree < four."""\n# a < b\n"a < b"\n'), [])
        self.assertEqual(changed("a.cc", 'const char* bad = R"(if x < y:\n  z == 1\n)";\nint a = b + c;\n'),
                         [(3, "int a = b - c;")])

    def test_a_switch_holds_both_expressions(self):
        for suffix, line, new, both in (
                (".cc", "  if (a < b) {", "  if (a <= b) {", "  if (MutantIsOn(7) ? (a <= b) : (a < b)) {"),
                (".cc", "  return a + b;", "  return a - b;", "  return MutantIsOn(7) ? (a - b) : (a + b);"),
                (".py", "    if a < b:", "    if a <= b:", "    if ((a <= b) if mutant_is_on(7) else (a < b)):")):  # fmt: skip
            self.assertEqual(mutants.switched(suffix, line, new, 7), both)

    def test_a_line_that_holds_no_whole_expression_is_no_place(self):
        self.assertEqual(changed("a.cc", "  if (a < b &&\n      c == f(d,\n  return f(a < b,\n"), [])
        self.assertEqual(changed("a.py", "    if (a < b\n        and c == d):\n"), [])

    def test_a_seed_draws_the_same_ones_in_every_folder(self):
        mutants.TREE = mutants.ROOT
        one, other = mutants.drawn(18, 7), mutants.drawn(18, 7)
        self.assertEqual(one, other)
        self.assertNotEqual(one, mutants.drawn(18, 8))
        for place, (path, *_) in enumerate(one):
            self.assertIn(mutants.FOLDERS[place % len(mutants.FOLDERS)], path.as_posix())


if __name__ == "__main__":
    unittest.main()
