"""Statements of a program's own lines that do nothing are told with their lines; all others are not."""

import pathlib
import sys
import tempfile
import unittest
import warnings

from tests.observe.reading import ROOT, python, run_watched

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.source.idle_statements import NOT_CALLED, NOT_TAKEN, idle_statements  # noqa: E402

PROGRAM = """import torch
layer = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
def train(x):
    optimizer.zero_grad
    y = layer(x)
    y.clamp(min=0)
    y.sum().backward()
    optimizer.step()
for _ in range(3):
    train(torch.ones(3, 2))
"""


def run_of_a_file():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "train.py")
        program.write_text(PROGRAM)
        return run_watched(python(program))


class Source(unittest.TestCase):
    def test_methods_that_are_named_only_and_results_that_nobody_takes(self):
        self.assertEqual(sorted(idle_statements(PROGRAM.encode())),
                         [(NOT_CALLED, "optimizer.zero_grad", 5, "train"), (NOT_TAKEN, "y.clamp", 7, "train")])

    def test_what_has_an_effect_or_is_taken_is_not_told(self):
        for line in ("model.eval()", "x = x.clamp(min=0)", "x.clamp_(min=0)", "x.clamp(min=0, out=y)",
                     "f(x.detach())", "self.items.add(3)", "x.shape", "x.clamp(**options)", '"model.eval"'):
            self.assertEqual(idle_statements(line.encode()), [], line)

    def test_what_cannot_be_parsed_or_is_deep_says_nothing(self):
        for source in (b"def f(:", b"\\xff\\xfe", b"\\0", b"(" * 5000 + b")" * 5000):
            self.assertEqual(idle_statements(source), [])

    def test_the_parser_warns_of_nothing_and_the_filters_stay(self):
        before = list(warnings.filters)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.assertEqual(len(idle_statements(b"x = '\\d'; 1 is 1\noptimizer.step")), 1)
        self.assertEqual((said, warnings.filters), ([], before))

    def test_long_names_are_said_as_they_are_written(self):
        self.assertEqual(idle_statements(b"self.trainer.optimizer.step")[0][1], "self.trainer.optimizer.step")
        self.assertEqual(idle_statements(b"models()[0].eval  # now")[0][1], "....eval")


class Watched(unittest.TestCase):
    def test_the_files_that_trained_are_read_at_the_end(self):
        rows = run_of_a_file().main.of("quantity", "idle_statement")
        self.assertEqual(sorted((row.value, row.thing[2], pathlib.Path(row.site[0]).name, row.site[1]) for row in rows),
                         [(1.0, "optimizer.zero_grad", "train.py", "5"), (2.0, "y.clamp", "train.py", "7")])

    def test_the_file_of_a_model_is_read_too(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "net.py")
            model.write_text("import torch\nclass Net(torch.nn.Linear):\n    def forward(self, x):\n"
                             "        y = super().forward(x)\n        y.sigmoid()\n        return y\n")
            program = pathlib.Path(folder, "train.py")
            program.write_text("from net import Net\n" + PROGRAM.replace("torch.nn.Linear", "Net"))
            rows = run_watched(python(program)).main.of("quantity", "idle_statement")
            self.assertIn((str(model), "5"), [row.site[:2] for row in rows])

    def test_a_program_that_is_no_file_is_watched_all_the_same(self):
        run = run_watched(python("-c", PROGRAM))
        self.assertEqual((run.status, run.main.of("quantity", "idle_statement")), (0, []))


if __name__ == "__main__":
    unittest.main()
