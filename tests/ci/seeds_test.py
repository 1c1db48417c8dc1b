"""What ci/seeds counts: runs, steps and alarms of each check, and programs whose verdicts differ."""

import contextlib
import io
import unittest

from loading import script

seeds = script("seeds")


def run(program, seed, steps, **verdicts):
    return {"program": program, "seed": seed, "steps": steps,
            "verdicts": {f"data/{name}": verdict for name, verdict in verdicts.items()}}  # fmt: skip


class Seeds(unittest.TestCase):
    def test_only_runs_in_which_a_check_had_a_verdict_count_for_it(self):
        table = seeds.rates([run("a", 0, 100, one="passed"), run("b", 0, 900, one="note", two="passed")])
        self.assertEqual({check: row[:3] for check, row in table.items()},
                         {"data/one": (2, 1000, 1), "data/two": (1, 900, 0)})  # fmt: skip

    def test_the_bound_is_the_exact_one_of_a_poisson_count(self):
        for count, bound in ((0, 2.996), (1, 4.744), (10, 16.962)):  # half the chi-squared quantile of 2 count + 2
            self.assertAlmostEqual(seeds.most(count), bound, places=3)
        self.assertAlmostEqual(seeds.rates([run("a", 0, 20000, one="passed")])["data/one"][3], 1.498, places=3)

    def test_programs_that_differ_are_named_with_their_verdicts(self):
        runs = [run("same", 0, 5, one="passed"), run("same", 1, 5, one="note"), run("alone", 0, 5, one="error"),
                run("other", 0, 5, one="passed"), run("other", 1, 5, one="warning")]  # fmt: skip
        programs = seeds.by_seed(runs, lambda line: line["program"], seeds.severe)
        self.assertEqual(set(programs), {"same", "other"})
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(seeds.show("programs", programs), 1)
        self.assertEqual(printed.getvalue(), "other: seed 0 -; seed 1 ('warning data/one',)\n"
                         "1 of 2 programs have the same verdict with all of 2 seeds\n")  # fmt: skip

    def test_nothing_is_said_of_programs_that_ran_with_one_seed(self):
        programs = seeds.by_seed([run("alone", 0, 5, one="error")], lambda line: line["program"], seeds.severe)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(seeds.show("programs", programs), 0)
        self.assertEqual(printed.getvalue(), "")

    def test_the_table_is_one_line_for_each_check(self):
        text = seeds.definitions(seeds.rates([run("a", 0, 100, two="note", one="passed")]))
        self.assertEqual(text.splitlines()[2:], ['DLCHECK_FALSE_ALARMS("data/one", 1, 100, 0, 3e+02)',
                                                 'DLCHECK_FALSE_ALARMS("data/two", 1, 100, 1, 4.7e+02)'])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
