"""Which line calls the operation that gave the first value that is not finite."""

import pathlib
import sys
import tempfile
import unittest

from tests.observe.reading import ROOT, python, run_watched

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.source.operation_lines import lines_of  # noqa: E402

PROGRAM = """import math, torch
layer = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
def loss_of(y):
    return (y - 9).log().mean()
for _ in range(3):
    optimizer.zero_grad()
    loss_of(layer(torch.ones(3, 2))).backward()
    optimizer.step()
MORE
"""


def born(more):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "train.py")
        program.write_text(PROGRAM.replace("MORE", more))
        found = run_watched(python(program)).main.attributes.values()
        return [(born["born_name"], born.get("born_line")) for born in found if "born_name" in born]


class OperationLines(unittest.TestCase):
    def test_the_only_line_that_calls_the_operation_is_told(self):
        self.assertEqual(born("print(math.log(2))"), [("log", "5")])

    def test_of_two_lines_none_is_told(self):
        self.assertEqual(born("print(torch.log(torch.ones(2)))"), [("log", None)])

    def test_the_line_that_sets_an_option_of_torch_is_told(self):
        program = "import torch\ntorch.autograd.set_detect_anomaly(True)\n"
        program += PROGRAM.replace("- 9).log()", "+ 20).log()").replace("MORE", 'torch.set_float32_matmul_precision("medium")')
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "train.py")
            file.write_text(program)
            main = run_watched(python(file)).main
        self.assertIn("2", {row.site[1] for row in main.of("event", "debugging") if row.site})
        self.assertEqual([row.site[1] for row in main.of("quantity", "changed_precision")], ["12"])

    def test_signs_are_calls_and_those_between_numbers_are_none(self):
        self.assertEqual(lines_of("div", b"a = 1 / 3\nb = x / 3\nc /= y\n"), {2, 3})
        self.assertEqual(lines_of("pow", b"a = x ** 2\nb = x.pow(2)\n"), {1, 2})

    def test_operations_in_place_are_calls_of_their_name(self):
        self.assertEqual(lines_of("exp", b"x.exp_()\ny.expm1()\n"), {1})

    def test_a_source_that_does_not_parse_has_no_lines(self):
        self.assertEqual(lines_of("log", b"x.log(\n"), set())


if __name__ == "__main__":
    unittest.main()
