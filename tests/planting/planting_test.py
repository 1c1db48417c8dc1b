"""A fault planted in a syntax tree changes what it says it changes, and no program that has no place for it."""

import ast
import pathlib
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "programs")]
import kept  # noqa: E402
import run_pairs  # noqa: E402
import table  # noqa: E402
import tree  # noqa: E402
from drawing import drawn  # noqa: E402

PROGRAM = """
import torch
import torch.nn.functional as F
model = torch.nn.Linear(2, 2)
adam = torch.optim.Adam(model.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(adam, 5)
for x, y in loader:
    adam.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    adam.step(), plan.step()
"""


class Planting(unittest.TestCase):
    def planted(self, name, program=PROGRAM):
        made = tree.planted(name, program)
        self.assertIsNotNone(made, name)
        return made[0]

    def test_calls_are_left_out_also_of_a_tuple(self):
        self.assertNotIn("zero_grad", self.planted("gradients_are_never_zeroed"))
        never = self.planted("the_optimizer_never_steps")
        self.assertNotIn("adam.step", never)
        self.assertIn("plan.step()", never)
        self.assertIn("adam.step()", self.planted("the_scheduler_never_steps"))

    def test_losses_are_known_by_function_and_by_module(self):
        self.assertIn("softmax(1)", self.planted("softmax_before_cross_entropy"))
        module = PROGRAM.replace("for x", "rule = torch.nn.CrossEntropyLoss()\nfor x").replace("F.cross_entropy", "rule")
        self.assertIn("rule(model(x).softmax(1), y)", self.planted("softmax_before_cross_entropy", module))

    def test_statements_change_places(self):
        lines = self.planted("the_step_comes_before_backward").splitlines()
        self.assertLess(next(i for i, line in enumerate(lines) if "adam.step" in line),
                        next(i for i, line in enumerate(lines) if "backward" in line))

    def test_what_has_no_place_for_a_fault_stays_as_it_is(self):
        for name in ("eval_is_never_called", "targets_have_another_axis", "accumulated_losses_are_not_divided"):
            self.assertIsNone(tree.planted(name, PROGRAM), name)

    def test_every_program_with_any_fault_still_parses(self):
        for path in drawn(list(run_pairs.programs().values()), 12):
            source = path.read_text()
            for name in tree.FAULTS:
                with self.subTest(program=path.stem, fault=name):
                    made = tree.planted(name, source)
                    if made is not None:
                        ast.parse(made[0])

    def test_every_fault_is_one_of_the_list(self):
        known = run_pairs.finders()
        for name, fault in tree.FAULTS.items():
            self.assertIn(fault.covered, known, name)

    def test_the_table_does_not_count_crashes(self):
        rows = [kept.Row(program, "the_loss_is_a_sum", "", outcome) for program, outcome in
                (("a", "named"), ("b", "missed"), ("c", "crash"), ("d", "no effect"), ("e", "noticed"), ("f", "named"))]
        text = table.page(rows)
        self.assertIn("**4 pairs count: 2 named (50 %), 1 noticed, 1 missed.** 2 pairs crash, change nothing or "
                      "cannot be repeated.", text)
        self.assertIn("(`summed-instead-of-averaged-loss`) | 4 | 2 | 50 % | 1 | b |", text)


class Kept(unittest.TestCase):
    def test_a_later_line_of_a_pair_replaces_an_earlier_one(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "outcomes.tsv")
            for row in (kept.Row("b", "f", "1", "missed"), kept.Row("a", "f", "2", "crash", why="two\tlines\n"),
                        kept.Row("b", "f", "3", "named", first="x/y")):  # fmt: skip
                kept.append(path, row)
            kept.tidy(path)
            self.assertEqual([line.split("\t")[:4] for line in path.read_text().splitlines()],
                             [["a", "f", "2", "crash"], ["b", "f", "3", "named"]])
            self.assertEqual(kept.read(path)["b", "f"].first, "x/y")

    def test_a_pair_is_run_again_where_its_text_changed(self):
        runner = object.__new__(run_pairs.Runner)
        runner.known = {("p", "f"): kept.Row("p", "f", kept.planted_digest("text"), "named")}
        self.assertTrue(runner.is_known("p", "f", ("text", 1)))
        self.assertFalse(runner.is_known("p", "f", ("other text", 1)))
        self.assertFalse(runner.is_known("q", "f", ("text", 1)))


if __name__ == "__main__":
    unittest.main()
