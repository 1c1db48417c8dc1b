"""Losses worked out by hand that compare every output with every target, and distances given the other way round."""

import sys
import textwrap
import unittest

import torch

from tests.observe.reading import SHIM, python, run_watched

sys.path.insert(0, str(SHIM))
from dlcheck_shim.autograd.spread_comparison import spread_comparison  # noqa: E402

ROWS = 16
DENOISER = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(6):
        noise = torch.randn(64, 32)
        given = 0.5 * torch.rand(64, 32) + noise
        wanted = WANTED
        optimizer.zero_grad()
        F.smooth_l1_loss(wanted, net(given)).backward()
        optimizer.step()
    """
)


class SpreadLosses(unittest.TestCase):
    def setUp(self):
        self.values = torch.nn.Linear(4, 1)(torch.randn(ROWS, 4))
        self.returns = torch.randn(ROWS)

    def pairs(self):
        return (self.values - self.returns).pow(2).mean()

    def test_a_term_of_a_sum_is_found_although_another_one_is_subtracted(self):
        entropy = self.values.sigmoid().mean()
        for loss in (self.pairs(), 0.5 * self.pairs() - 0.01 * entropy, entropy + 0.5 * self.pairs()):
            self.assertEqual(spread_comparison(loss), f"{ROWS}x1 and {ROWS}")

    def test_pairs_that_are_subtracted_or_subtracted_from_are_meant(self):
        own = (self.values - self.values[:, 0].detach()).abs().mean()
        error = (self.values[:, 0] - self.returns).pow(2).mean()
        for loss in (2 * (self.values - self.returns).abs().mean() - own, error - 0.1 * self.pairs()):
            self.assertIsNone(spread_comparison(loss))

    def test_a_loss_of_each_output_and_its_own_target_is_none(self):
        self.assertIsNone(spread_comparison((self.values[:, 0] - self.returns).pow(2).mean()))


class Swapped(unittest.TestCase):
    def test_a_distance_that_is_given_its_target_first_is_looked_at(self):
        for wanted, stated in (("torch.randn(64, 32)", True), ("noise", False)):
            run = run_watched(python("-c", DENOISER.replace("WANTED", wanted)))
            self.assertEqual(bool(run.main.of("quantity", "unrelated_noise")), stated, run.err)


if __name__ == "__main__":
    unittest.main()
