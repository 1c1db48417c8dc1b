"""An optimizer that is cleared and makes no step is told from one that wraps another."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 1)
    idle = torch.optim.SGD(GIVEN, lr=0.1)
    moving = torch.optim.SGD(layer.parameters(), lr=0.1)
    for step in range(4):
        layer(torch.rand(5, 4)).square().mean().backward()
        MOVE
        idle.zero_grad()
    """
)


WAITING = """
import torch
layer = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for i in range(40):
    layer(torch.ones(3, 2)).sum().backward()
    BODY
"""


def moved_otherwise(given, move):
    """Whether the optimizer that is only cleared is said to have parameters that change."""
    source = PROGRAM.replace("GIVEN", given).replace("MOVE", move)
    described = run_watched(python("-c", source)).main.attributes.values()
    return any("moved_otherwise" in values for values in described)


class ShimUnstepped(unittest.TestCase):
    def test_its_parameters_are_those_of_one_that_steps(self):
        self.assertTrue(moved_otherwise("layer.parameters()", "moving.step()"))

    def test_its_parameters_are_written_to_by_hand(self):
        by_hand = "for p in layer.parameters(): p.data -= 0.1 * p.grad"
        self.assertTrue(moved_otherwise("layer.parameters()", by_hand))

    def test_its_first_parameters_are_frozen_and_the_last_ones_move(self):
        frozen = "[torch.nn.Parameter(torch.ones(2), requires_grad=False) for _ in range(9)]"
        self.assertTrue(moved_otherwise(f"{frozen} + list(layer.parameters())", "moving.step()"))

    def test_others_move_and_its_own_do_not(self):
        self.assertFalse(moved_otherwise("[torch.nn.Parameter(torch.ones(2))]", "moving.step()"))

    def test_nothing_moves(self):
        self.assertFalse(moved_otherwise("layer.parameters()", "pass"))

    def waiting(self, body):
        run = run_watched(python("-c", WAITING.replace("BODY", body)))
        self.assertEqual(run.status, 0, run.err)
        return [values["waiting"] for values in run.main.attributes.values() if "waiting" in values]

    def test_one_that_is_never_asked_for_a_step_is_told_with_its_backward_calls(self):
        self.assertEqual(self.waiting("layer.zero_grad()"), ["32"])

    def test_one_that_steps_after_many_micro_batches_is_told_once_and_no_more(self):
        self.assertEqual(self.waiting("i == 20 and optimizer.step()"), ["16"])

    def test_one_of_many_that_each_step_once_does_not_wait(self):
        again = "optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)"
        self.assertEqual(self.waiting(f"optimizer.step(); optimizer.zero_grad(); {again}"), [])


if __name__ == "__main__":
    unittest.main()
