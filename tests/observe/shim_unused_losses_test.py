"""Losses of one line are counted with those that a backward reaches, and only where that is the last alone."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    net = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        losses = []
        for task in range(3):
            losses.append(F.cross_entropy(net(torch.randn(5, 4)), torch.tensor([0, 1, 2, 0, 1])))
        BACKWARD
        optimizer.step()
    print(net.weight.sum().item(), torch.rand(1).item())
    """
)


class ShimUnusedLosses(unittest.TestCase):
    def told(self, backward):
        run = run_watched(python("-c", PROGRAM.replace("BACKWARD", backward)))
        self.assertEqual(run.status, 0, run.err)
        return [(row.step, row.value, row.aux, row.site[1]) for row in run.main.of("quantity", "unused_losses")]

    def test_only_the_last_is_used(self):
        for backward in ("losses[-1].backward()", "(losses[-1] * 3 + net.weight.square().sum()).backward()"):
            self.assertEqual(self.told(backward), [(step, 2, 3, "10") for step in range(4)], backward)

    def test_all_of_them_or_any_other_are_used(self):
        for backward in ("sum(losses).backward()", "[loss.backward() for loss in losses]", "max(losses).backward()",
                         "torch.stack(losses).min().backward()"):
            rows = self.told(backward)
            self.assertEqual([row[2] for row in rows], [3] * 4)
            self.assertIn(0, [row[1] for row in rows], backward)

    def test_where_too_much_lies_between_nothing_is_told(self):
        rows = self.told("sum([losses[-1] * 1 for _ in range(600)]).backward()")
        self.assertEqual(rows, [])

    def test_what_the_program_prints_is_the_same(self):
        command = python("-c", PROGRAM.replace("BACKWARD", "losses[-1].backward()"))
        self.assertEqual(run_watched(command).out, run_unwatched(command).out)


if __name__ == "__main__":
    unittest.main()
