"""Attributes that torch does not read freeze nothing; what is frozen as torch has it is left alone."""

import pathlib
import tempfile
import textwrap
import unittest

from tests.observe.reading import python, run_watched
from tests.observe.twins import Twins

PARTS = {"FREEZE": ("net[0].requires_grad = False", "net[0].requires_grad_(False)"),
         "SPELL": ("require_grad", "requires_grad")}  # fmt: skip
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn
    net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 1))
    def freeze():
        FREEZE
        for p in net[1].parameters():
            p.SPELL = False
            p.trainable = True
    freeze()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).mean().backward()
        optimizer.step()
    """
)


class FrozenByName(Twins, unittest.TestCase):
    PROGRAM, PARTS, QUANTITIES = PROGRAM, PARTS, ("frozen_by_name",)

    def test_the_lines_that_set_the_attributes_are_known(self):
        rows = self.runs[0].main.of("quantity", "frozen_by_name")
        self.assertEqual(sorted((row.thing[2], row.value, row.aux, int(row.site[1])) for row in rows),
                         [("require_grad", 2, 0, 7), ("requires_grad", 2, 1, 5)])  # fmt: skip

    def test_another_word_for_a_flag_of_the_programs_own_is_none(self):
        text = PROGRAM.replace("FREEZE", "net.frozen = False").replace("SPELL", "trainable")
        read = PROGRAM.replace("FREEZE", "pass").replace("SPELL", "requires_grad_") + "print(net[1].weight.requires_grad_)\n"
        own = text.replace("def freeze", "class Part(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                           "        self.requires_grad, self.inner = False, nn.Linear(8, 8)\n        self.requires_grad = False\n"
                           "    def forward(self, x):\n        return self.inner(x)\nnet[1] = Part()\ndef freeze")  # fmt: skip
        for program in (text, read, own):
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "program.py").write_text(program)
                run = run_watched(python(pathlib.Path(folder, "program.py")))
            self.assertEqual((run.status, run.main.of("quantity", "frozen_by_name")), (0, []), run.err)


if __name__ == "__main__":
    unittest.main()
