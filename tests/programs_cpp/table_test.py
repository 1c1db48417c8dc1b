"""C++ programs that know nothing of dlcheck, each with one of many faults: a share of them in each commit."""

import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "programs"))
from drawing import drawn  # noqa: E402
from table import PROGRAMS, faults, found  # noqa: E402
from table_cases import CHECKS, MISSED, WITHOUT_LINE  # noqa: E402
from unchanged_test import PROGRAM  # noqa: E402

SHARE = 10


class Table(unittest.TestCase):
    def test_each_program_has_forty_faults_and_more_and_each_is_listed(self):
        for program in PROGRAMS:
            with self.subTest(program):
                self.assertGreater(len(faults(program)), 40)
                self.assertLessEqual(set(faults(program)), set(CHECKS))
                self.assertLessEqual(MISSED[program], set(faults(program)))

    @unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
    def test_faults_are_found_first_with_a_line_of_the_program(self):
        cases = [(program, fault) for program in PROGRAMS for fault in faults(program) if fault not in MISSED[program]]
        for program, fault in drawn(cases, SHARE):
            with self.subTest(program=program, fault=fault):
                order, state, lines = found(program, fault)
                self.assertEqual(state, "first", order)
                self.assertTrue(lines or fault in WITHOUT_LINE, order)


if __name__ == "__main__":
    unittest.main()
