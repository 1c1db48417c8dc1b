"""A loss that is an error with a minus is told, and nothing that may well be raised; and the size of what the first
layer is given."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    net = nn.Sequential(LAYERS)
    x, y = torch.randn(24, 6), torch.randn(24, 3)
    mask = (torch.arange(24) % 3 > 0).float()[:, None]
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    for step in range(6):
        optimizer.zero_grad()
        out = net(SCALE * x)
        LOSS.backward()
        optimizer.step()
    print(net[0].weight.sum().item(), torch.rand(1).item())
    """
)
RAISED = ("(-((out - y) ** 2).mean())", "((out - y).abs() * mask).sum().div(16).neg()", "(-(y - out).pow(2).mean() * 0.5)",
          "(0 - ((out - y) ** 2 * mask).sum() / mask.sum() - (out - y).abs().mean())")  # fmt: skip
# Errors that fall; a spread that rises; an error beside a term that nobody knows; a distance between outputs.
OTHERS = ("((out - y) ** 2).mean()", "(-out.pow(2).mean())", "(-((out - y) ** 2).mean() + out.exp().mean())",
          "((out - y).abs().mean() - (out - y.flip(0)).abs().mean())", "(-((out - y) ** 3).mean())",
          "(-((out - y) ** 2 * (mask - 0.5)).mean())")  # fmt: skip


def program(loss=OTHERS[0], scale="1.0", layers="nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)"):
    return python("-c", PROGRAM.replace("LOSS", loss).replace("SCALE", scale).replace("LAYERS", layers))


class ShimRaisedErrors(unittest.TestCase):
    def rows(self, name, **words):
        run = run_watched(program(**words))
        self.assertEqual(run.status, 0, run.err)
        return run.main.of("quantity", name)

    def test_squared_and_absolute_differences_with_a_minus_are_told_in_the_first_steps(self):
        for loss in RAISED:
            rows = self.rows("raised_error", loss=loss)
            self.assertEqual([row.step for row in rows], [0, 1, 2, 3], loss)

    def test_whatever_else_may_be_raised_is_not(self):
        for loss in OTHERS:
            self.assertEqual(self.rows("raised_error", loss=loss), [], loss)

    def test_the_size_of_what_the_first_layer_with_weights_is_given(self):
        rows = self.rows("input_scale", scale="100.0")
        self.assertEqual({row.thing for row in rows}, {("module", "0", "0")})
        self.assertTrue(all(80 < row.value < 120 for row in rows))
        behind = self.rows("input_scale", scale="100.0", layers="nn.LayerNorm(6), nn.Linear(6, 3)")
        self.assertTrue(all(0.9 < row.value < 1.1 for row in behind))

    def test_what_the_program_prints_is_the_same(self):
        command = program(loss=RAISED[-1], scale="100.0")
        self.assertEqual(run_watched(command).out, run_unwatched(command).out)


if __name__ == "__main__":
    unittest.main()
