"""Weights of losses, averages of weights, policies and evaluations: a program with a fault in each, and its twin
without."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched
from tests.observe.twins import Twins

# Pairs of what stands in the program with the fault, and in its twin.
PARTS = {
    "SHADOW": ("p.data", "p.detach().clone()"),
    "ACTION": ("drawn.clamp(-0.5, 0.5)", "drawn"),
    "LOGARITHM": ("0", "s.sum()"),
    "EACH": ("", "dim=1"),
    "RAW": ("100 * y[:64] + 50", "y[:64]"),
    "IGNORED": ("3", "0"),
    "OLD": ("scores", "before"),
    "BUFFERS": ("[]", "zip(copy.buffers(), body.buffers())"),
}
PROGRAM = textwrap.dedent(
    """
    import copy as copies, torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.next = nn.Embedding(9, 8), nn.Linear(8, 9)
        def forward(self, tokens):
            return self.next(self.table(tokens))
    words, s = Words(), nn.Parameter(torch.zeros(2))
    body = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
    critic, copy = nn.Linear(8, 1), copies.deepcopy(body).eval()
    shadow = [SHADOW for p in body.parameters()]
    everything = [*words.parameters(), *body.parameters(), *critic.parameters(), s]
    optimizer = torch.optim.SGD(everything, lr=0.01)
    x, y = torch.randn(64, 8), torch.randn(64)
    tokens = torch.randint(1, 9, (16, 10))
    tokens[torch.arange(10) >= 5 + torch.arange(16)[:, None] % 6] = 0
    before = torch.zeros(64)
    for step in range(20):
        out = body(x)
        losses = torch.stack([F.mse_loss(out[:, 0], y), out[:, 1].square().mean()])
        loss = (torch.exp(-s) * losses).sum() + LOGARITHM
        near = x.clone().requires_grad_()
        slope, = torch.autograd.grad(critic(near).square().sum(), near, create_graph=True)
        loss = loss + (slope.norm(2, EACH) - 1).square().mean()
        policy = torch.distributions.Normal(out[:, 2], 1.0)
        drawn = policy.sample()
        loss = loss - (policy.log_prob(ACTION) * y).mean() * 0.01
        scores = out.log_softmax(1)[:, 0]
        ratio = (scores - OLD.detach()).exp()
        loss = loss - torch.min(ratio * y, ratio.clamp(0.8, 1.2) * y).mean()
        told = words(tokens[:, :-1])
        loss = loss + F.cross_entropy(told.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for a, p in zip(shadow, body.parameters()):
                a.mul_(0.99).add_(p.data, alpha=0.01)
            for a, b in BUFFERS:
                a.copy_(b)
    with torch.no_grad():
        copy(x)
        body.eval()
        F.mse_loss(body(x)[:, 0], RAW)
    """
)
QUANTITIES = ("aliased_average", "clipped_actions", "unlimited_weight", "norm_over_batch", "ignored_within",
              "constant_ratio", "initial_statistics")  # fmt: skip
# The last output of rows that were packed, and that at the end of each.
PACKED = textwrap.dedent(
    """
    import torch, torch.nn as nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
    layer, head = nn.GRU(4, 6, batch_first=True), nn.Linear(6, 1)
    optimizer = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.1)
    for step in range(4):
        lengths = torch.arange(8) % 4 + 3
        given = pack_padded_sequence(torch.randn(8, 6, 4), lengths, batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(layer(given)[0], batch_first=True)
        optimizer.zero_grad()
        head(out[TAKEN]).mean().backward()
        optimizer.step()
    """
)


class LearnedWeights(Twins, unittest.TestCase):
    PROGRAM, PARTS, QUANTITIES = PROGRAM, PARTS, QUANTITIES

    def test_what_is_told_has_the_numbers_of_the_program(self):
        self.assertEqual(self.told("aliased_average"), [(6, 6)])
        self.assertEqual(self.told("unlimited_weight"), [(2, 0)])
        self.assertEqual(self.told("norm_over_batch"), [(64, 0)])
        self.assertEqual(self.told("initial_statistics"), [(3, 1)])
        (share, count), *_ = self.told("clipped_actions")
        self.assertTrue(0.4 < share < 0.8 and count == 256)

    def test_targets_of_an_evaluation_are_compared_with_those_of_training(self):
        (spread, mean), = self.told("evaluation_targets")
        self.assertTrue(90 < spread < 110 and 40 < mean < 60)
        (spread, mean), = self.told("evaluation_targets", 1)
        self.assertAlmostEqual(spread, 1, places=3)

    def test_the_last_place_of_rows_that_were_packed_is_told_and_their_own_end_is_not(self):
        found = [run_watched(python("-c", PACKED.replace("TAKEN", taken))).main.of("quantity", "padding_read")
                 for taken in (":, -1", "torch.arange(8), lengths - 1")]  # fmt: skip
        self.assertEqual([[(row.value, row.aux) for row in rows] for rows in found], [[(3, 6)], []])


if __name__ == "__main__":
    unittest.main()
