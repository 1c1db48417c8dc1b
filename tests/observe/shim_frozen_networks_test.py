"""A network that was trained earlier in the program, and then frozen, is told of in training mode like any other teacher."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    x = torch.randn(64, 8)
    y = (x[:, 0] > 0).long()
    teacher, student = nn.Sequential(nn.Linear(8, 16), LAYER, nn.ReLU(), nn.Linear(16, 2)), nn.Linear(8, 2)
    optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-2)
    for step in range(5):
        optimizer.zero_grad()
        F.cross_entropy(teacher(x), y).backward()
        optimizer.step()
    FREEZE
    both = torch.optim.Adam(list(student.parameters()) + OTHERS, lr=1e-2)
    for step in range(8):
        with torch.no_grad():
            soft = teacher(x).softmax(1)
        loss = F.kl_div(student(x).log_softmax(1), soft, reduction="batchmean")
        ALSO
        both.zero_grad()
        loss.backward()
        both.step()
    print(loss.item(), torch.rand(1).item())
    """
)
FREEZE = "teacher.requires_grad_(False)"


def program(layer="nn.Dropout(0.3)", freeze=FREEZE, others="[]", also="pass"):
    text = PROGRAM.replace("LAYER", layer).replace("FREEZE", freeze)
    return python("-c", text.replace("OTHERS", others).replace("ALSO", also))


class ShimFrozenNetworks(unittest.TestCase):
    def calls(self, **parts):
        run = run_watched(program(**parts))
        self.assertEqual(run.status, 0, run.err)
        return [row.value for row in run.main.of("quantity", "frozen_in_training_mode")]

    def test_it_is_told_in_each_step_that_calls_it(self):
        for layer in ("nn.Dropout(0.3)", "nn.BatchNorm1d(16)"):
            self.assertEqual(self.calls(layer=layer), [1, 2, 3, 4, 5, 6, 7, 8], layer)

    def test_in_evaluation_mode_or_without_a_layer_that_depends_on_it_nothing_is_told(self):
        self.assertEqual(self.calls(freeze=FREEZE + ".eval()"), [])
        self.assertEqual(self.calls(layer="nn.Identity()"), [])

    def test_a_network_that_goes_on_training_is_none(self):
        also = "loss = loss + F.cross_entropy(teacher(x), y)"
        self.assertEqual(self.calls(freeze="pass", others="list(teacher.parameters())", also=also), [])

    def test_the_program_ends_with_the_same_bits(self):
        self.assertEqual(run_watched(program()).out, run_unwatched(program()).out)


if __name__ == "__main__":
    unittest.main()
