"""Targets in another order than the inputs are told, and targets with a gradient of their own; what may be meant is
not."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PAIRS = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    from torch.utils.data import DataLoader
    torch.manual_seed(0)
    net, x = nn.Linear(3, 4), torch.randn(100, 3)
    y = torch.randint(4, (100,))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    samples = [(torch.randn(3), torch.randint(4, ())) for _ in range(160)]
    for given, target in DRAWS:
        order = torch.randperm(len(given))
        optimizer.zero_grad()
        (LOSS).backward()
        optimizer.step()
    """
)
DRAWN = "((x[i], y[i]) for i in (torch.randperm(100)[:20] for step in range(10)))"
LOADED = "DataLoader(samples, 16, shuffle=True)"
MOVING = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    net, other, table = nn.Linear(3, 4), nn.Linear(3, 4), nn.Parameter(torch.randn(20, 4))
    optimizer = torch.optim.SGD([*net.parameters(), table], lr=0.01)
    for step in range(4):
        x = torch.randn(20, 3)
        optimizer.zero_grad()
        F.mse_loss(OUTPUT, TARGET).backward()
        optimizer.step()
    """
)
HIDDEN = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(9, 8), nn.Linear(8, 9))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(12):
        words = torch.randint(8, (32, 16))
        given, hidden = WORDS, torch.rand(32, 16) < 0.3
        given[hidden] = 8
        optimizer.zero_grad()
        F.cross_entropy(net(given)[hidden], words[hidden]).backward()
        optimizer.step()
    """
)
# One that writes each of the two.
PROGRAMS = (PAIRS.replace("LOSS", "F.cross_entropy(net(given), target)").replace("DRAWS", DRAWN),
            MOVING.replace("OUTPUT", "net(x)").replace("TARGET", "other(x)"))  # fmt: skip


def told(quantity, program):
    run = run_watched(python("-c", program))
    assert run.status == 0, run.err
    return [(row.value, row.aux) for row in run.main.of("quantity", quantity)]


def compared(loss, draws=DRAWN):
    return told("reordered_targets", PAIRS.replace("LOSS", loss).replace("DRAWS", draws))


def moving(target, output="net(x)", loss="mse_loss"):
    program = MOVING.replace("OUTPUT", output).replace("TARGET", target).replace("mse_loss", loss)
    return told("target_gradient", program)


class ReorderedTargets(unittest.TestCase):
    def test_of_tensors_and_of_loaders_are_told_once(self):
        for draws in (DRAWN, LOADED):
            for target in ("target.roll(1, 0)", "target[order]"):
                ((wrong, judged),) = compared(f"F.cross_entropy(net(given), {target})", draws)
                self.assertGreater(wrong, 0.5 * judged)

    def test_of_numbers_are_told_whatever_their_type(self):
        self.assertGreater(compared("F.mse_loss(net(given)[:, :1], target[order].float()[:, None])")[0][0], 60)

    def test_inputs_in_another_order_are_told(self):
        self.assertGreater(compared("F.cross_entropy(net(given[order]), target)")[0][0], 60)

    def test_in_the_order_of_the_inputs_are_not_told(self):
        for draws in (DRAWN, LOADED):
            for loss in ("F.cross_entropy(net(given), target)", "F.cross_entropy(net(given[order]), target[order])"):
                self.assertEqual([wrong for wrong, _ in compared(loss, draws)], [0])

    def test_that_follow_their_outputs_are_not_told(self):
        self.assertEqual(compared("F.cross_entropy(net(given)[order], target[order])"), [])

    def test_that_are_the_inputs_themselves_are_told_and_judged(self):
        back = "F.mse_loss(net(given)[:, :3], {})"
        self.assertGreater(compared(back.format("given.roll(1, 0)"))[0][0], 60)
        self.assertEqual(compared(back.format("given.clone()")), [(0, 160)])

    def test_that_only_have_as_many_of_each_kind_are_not_told(self):
        program = PAIRS.replace("samples = ", "net, y = nn.Linear(3, 2), torch.arange(100) % 2\nsamples = ")
        own = program.replace("LOSS", "F.cross_entropy(net(given), torch.arange(len(given)) // 3 % 2)")
        draws = "((x[i], y[i]) for i in (torch.arange(6) + 3 * step for step in range(10)))"
        self.assertEqual(told("reordered_targets", own.replace("DRAWS", draws)), [])

    def test_beside_those_in_order_are_not_told(self):
        mixed = "F.cross_entropy(net(given), target) + F.cross_entropy(net(given), target[order])"
        self.assertEqual([wrong for wrong, _ in compared(mixed)], [0])


class HiddenWords(unittest.TestCase):
    def test_that_the_mask_was_written_over_the_targets_is_told(self):
        (share, count), = told("largest_class", HIDDEN.replace("WORDS", "words"))
        self.assertTrue(share == 1 and 1024 <= count < 1400)
        self.assertEqual(told("largest_class", HIDDEN.replace("WORDS", "words.clone()")), [])


class TargetGradients(unittest.TestCase):
    def test_that_reach_parameters_are_told(self):
        self.assertEqual(moving("other(x)"), [(2, 0)] * 4)

    def test_of_constants_are_not_told(self):
        for target in ("other(x).detach()", "torch.randn(20, 4)", "torch.randn(20, 4, requires_grad=True) * 2"):
            self.assertEqual(moving(target), [])

    def test_of_a_code_that_learns_from_a_constant_are_not_told(self):
        self.assertEqual(moving("table * 1", "net(x).detach()"), [])

    def test_that_alone_have_a_gradient_are_told_so_where_the_loss_is_no_distance(self):
        teacher, student = "other(x).log_softmax(1).detach()", "net(x).softmax(1)"
        self.assertEqual(moving(student, teacher, "kl_div"), [(2, 1)] * 4)
        self.assertEqual(moving("other(x).softmax(1).detach()", "net(x).log_softmax(1)", "kl_div"), [])


if __name__ == "__main__":
    unittest.main()
