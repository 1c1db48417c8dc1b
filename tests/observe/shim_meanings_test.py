"""What axes, states, weights and statistics stand for: a program with a fault in each, and its twin without."""

import sys
import textwrap
import unittest

import torch

from tests.observe.reading import ROOT, python, run_watched
from tests.observe.twins import Twins

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.hooks.own_statistics import TOGETHER, normalization_of  # noqa: E402
from dlcheck_shim.hooks.targets_among_inputs import starts_of  # noqa: E402

# Pairs of what stands in the program with the fault, and in its twin.
PARTS = {
    "AXIS": ("2", "1"),
    "OWN": ("z @ z.mT", "(z @ z.mT).fill_diagonal_(-torch.inf)"),
    "TARGET": ("x[:, 3]", "x[:, 3].square()"),
    "WORDS": ("following", "torch.cat([source[:, :1], following[:, :-1]], 1)"),
    "DIVISOR": ("(each * there).mean()", "(each * there).sum() / there.sum()"),
    "STATE": ("out[:, -1]", "out[torch.arange(len(out)), lengths - 1]"),
    "RARITY": ("rarity.flip(0)", "rarity"),
    "SPREAD": ("v.exp()", "(0.5 * v).exp()"),
    "HELD": ("(held - held.mean(0)) / held.std(0)", "held"),
    "RATES": ("(len(x), 1)", "(len(x),)"),
    "VIEW": ("x.view(8, 64)", "x.t()"),
    "MODE": ("train", "eval"),
    "GRAPH": ("False", "True"),
    "SIGN": ("-", "+"),
    "ALIKE": ("(kinds == 1).float()", "(kinds == 1).float() * 2 - 1"),
}
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.order = nn.Embedding(12, 8), nn.GRU(8, 8, batch_first=True)
            self.maps, self.each = nn.Conv2d(1, 3, 1), nn.Linear(8, 12)
            self.mu, self.v, self.out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 3)
        def forward(self, x, source, tokens):
            out, _ = self.order(self.words(tokens))
            lengths = (tokens != 0).sum(1)
            state = STATE
            mu, v = self.mu(x), self.v(x)
            self.gap = (mu**2 + v.exp() - 1 - v).mean() / 2
            h = mu + torch.randn_like(mu) * SPREAD
            self.other = self.words(source).mean()
            return self.out(h), self.maps(x.view(-1, 1, 2, 4)), self.each(out), state
    class Turned(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(64, 1)
        def forward(self, x):
            return self.layer(VIEW)
    net, turned, teacher = Net(), Turned(), nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 3))
    apart = torch.optim.SGD(teacher.parameters(), lr=0.1)
    F.cross_entropy(teacher(torch.randn(4, 8)), torch.arange(4) % 3).backward()
    apart.step()
    teacher.MODE()
    critic = nn.Linear(8, 1)
    everything = [p for part in (net, turned, critic) for p in part.parameters()]
    optimizer = torch.optim.SGD(everything, lr=0.01)
    chances = torch.tensor([0.1, 0.3, 0.6])
    rarity, held = 1 / chances, torch.randn(64, 8) + 1
    for step in range(100):
        x, kinds = torch.randn(64, 8), torch.multinomial(chances, 64, True)
        source, following = torch.randint(1, 12, (2, 32, 9))
        following[torch.arange(9) >= 3 + torch.arange(32)[:, None] % 6] = 0
        scores, maps, each, state = net(x, source, WORDS)
        there = (following != 0).float()
        each = F.cross_entropy(each.mT, following, reduction="none")
        z = F.normalize(scores, dim=1)
        with torch.no_grad():
            wanted = torch.softmax(scores, 1)
        soft = teacher(x).detach().softmax(1)
        loss = F.cross_entropy(scores, kinds, weight=RARITY) + net.gap + state.mean() + DIVISOR
        loss = loss + F.nll_loss(F.log_softmax(maps, dim=AXIS), torch.randint(3, (64, 2, 4)))
        loss = loss + F.cross_entropy(OWN, torch.arange(64).roll(32)) + F.mse_loss(scores[:, 0], TARGET)
        loss = loss + (soft * F.log_softmax(scores, 1)).sum(1).mean() + net.other
        near = x.clone().requires_grad_()
        real, made = critic(near), critic(x.flip(0))
        slope, = torch.autograd.grad(real.sum(), near, retain_graph=True, create_graph=GRAPH)
        loss = loss + (slope.norm(dim=1) - 1).square().mean() + made.mean() - real.mean() + F.soft_margin_loss(scores[:, 2], ALIKE)
        v = net.v(x)
        loss = loss SIGN 0.1 * (v.exp() - v - 1).mean()
        loss = loss + (torch.rand(RATES) * (scores[:, 1] - x[:, 0]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        turned(x).mean().backward()
        optimizer.step()
    net.eval()
    held = HELD
    with torch.no_grad():
        for rows in held.split(16):
            net(rows, source[:16], following[:16])
    """
)
QUANTITIES = ("misplaced_classes", "own_pairs", "target_among_inputs", "padded_mean", "padding_read",
              "misordered_weights", "variance_as_deviation", "own_statistics", "swapped_sizes",
              "frozen_in_training_mode", "constant_term", "negated_divergence", "wrong_targets")  # fmt: skip


# A model that is given its targets for the loss that it works out by itself.
OWN_LOSS = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.tags = nn.Embedding(9, 8), nn.Linear(8, 9)
        def forward(self, words, labels):
            if LOOKS:
                self.words(labels)
            return F.cross_entropy(self.tags(self.words(words)).mT, labels)
    tagger = Tagger()
    optimizer = torch.optim.SGD(tagger.parameters(), lr=0.1)
    for step in range(8):
        words, labels = torch.randint(1, 9, (2, 16, 9))
        optimizer.zero_grad()
        tagger(words, labels).backward()
        optimizer.step()
    """
)


class Meanings(Twins, unittest.TestCase):
    PROGRAM, PARTS, QUANTITIES = PROGRAM, PARTS, QUANTITIES

    def test_what_is_told_has_the_numbers_of_the_program(self):
        self.assertEqual(self.told("misplaced_classes"), [(2, 4)])
        self.assertEqual(self.told("own_pairs"), [(64, 0)])
        self.assertEqual(self.told("target_among_inputs"), [(-1, 3 * 288), (3, 192)])
        self.assertEqual(self.told("padding_read"), [(6, 32)])
        self.assertEqual(self.told("own_statistics"), [(1, 64)])
        (ratio, classes), *_ = self.told("misordered_weights")
        self.assertTrue(25 < ratio < 50 and classes == 3)

    def test_targets_that_a_model_is_given_for_its_loss_are_not_told(self):
        found = [run_watched(python("-c", OWN_LOSS.replace("LOOKS", looks))).main.of("quantity", "target_among_inputs")
                 for looks in ("False", "True")]  # fmt: skip
        self.assertEqual([len(rows) for rows in found], [0, 1])

    def test_a_window_of_targets_is_found_in_an_input_and_one_that_is_made_again_is_not(self):
        torch.manual_seed(0)
        series, sequence = torch.randn(16, 36).cumsum(1), torch.randn(16, 20, 3).cumsum(1)
        self.assertEqual(starts_of(series, series[:, 30:]), {30})
        self.assertEqual(starts_of(sequence, sequence[:, 14:, 1]), {14 * 3 + 1})
        self.assertEqual(starts_of(sequence.mT, sequence[:, 14:, 1]), {20 + 14})
        others = (series[:, 10:], series, series[:, 30:].flip(1), series[:, 30:] + 1e-4, series[:, :6], torch.randn(16, 6))
        self.assertEqual([starts_of(series, wanted) for wanted in others], [set()] * 6)
        self.assertEqual(starts_of(series, series[:, 30:], made=(36,)), set())
        joined = torch.randn(16, 18)
        self.assertEqual(starts_of(joined, joined[:, 10:]), set())

    def test_numbers_that_are_normal_by_nature_are_not_taken_for_normalized_ones(self):
        source, found = torch.Generator().manual_seed(0), []
        for _ in range(400):
            x = torch.randn(500, 10, generator=source, dtype=torch.double)
            found.append(normalization_of(500, x.sum(0), x.square().sum(0), 1.0))
        self.assertEqual(sum(found), 0)
        x = ((x - x.mean()) / x.std()).float().double()
        self.assertEqual(normalization_of(500, x.sum(0), x.square().sum(0), 1.0), TOGETHER)

    def test_weights_of_errors_that_meet_all_samples_are_told(self):
        found = [run.main.attributes.get(("loss", "0", "loss"), {}).get("broadcast") for run in self.runs]
        self.assertEqual(found, ["64 and 64x1", None])


if __name__ == "__main__":
    unittest.main()
