"""Which graphs have two layers without anything nonlinear between them, an activation of itself, unscaled
scores or units of zeros: those with each, and those that miss it narrowly."""

import sys
import unittest

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

from tests.observe.reading import ROOT

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.autograd.chains import linear_pair, repeated_activation, unscaled_attention  # noqa: E402
from dlcheck_shim.autograd.policy_terms import GRADED, weight_of_action  # noqa: E402
from dlcheck_shim.autograd.zero_units import zero_units  # noqa: E402
from dlcheck_shim.hooks.graph_scan import walked  # noqa: E402
from dlcheck_shim.hooks.plateaus import are_shares  # noqa: E402
from dlcheck_shim.torch_api import private  # noqa: E402


def found(function, output):
    nodes, users = walked(output.sum())
    results = (function(node, users) if function is linear_pair else function(node) for node in nodes)
    return [result[:3] if function is linear_pair else result for result in results if result is not None]


class Pairs(unittest.TestCase):
    def setUp(self):
        self.x = torch.randn(40, 6, 16)
        self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 8)

    def pairs(self, output):
        return found(linear_pair, output)

    def test_two_layers_are_a_pair_whatever_is_linear_between_them(self):
        h = self.first(self.x)
        for between in (h, h * 2 + 1, F.dropout(h), h * (self.x[..., :1] > 0), h.reshape(240, 32), h.to(torch.float64).float()):
            self.assertEqual(self.pairs(self.second(between)), [("16 to 32 to 8", 32, 8)])

    def test_what_is_nonlinear_or_joins_others_parts_them(self):
        h = self.first(self.x)
        for between in (h.relu(), F.layer_norm(h, (32,)), h * h.sigmoid(), h * self.x.repeat(1, 1, 2), h.softmax(-1)):
            self.assertEqual(self.pairs(self.second(between)), [])

    def test_a_factorization_and_an_output_with_two_users_are_none(self):
        down, up = nn.Linear(16, 4), nn.Linear(4, 16)
        self.assertEqual(self.pairs(up(down(self.x))), [])
        h = self.first(self.x)
        self.assertEqual(self.pairs(self.second(h) + h.mean()), [])
        self.first.weight.requires_grad_(False)
        self.assertEqual(self.pairs(self.second(self.first(self.x))), [])

    def test_convolutions_of_one_size_are_a_pair_and_separable_ones_are_none(self):
        x = torch.randn(4, 3, 9, 9)
        plain, other = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.assertEqual(len(self.pairs(other(plain(x)))), 1)
        for last in (nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 3, groups=8), nn.ConvTranspose2d(8, 8, 3)):
            self.assertEqual(self.pairs(last(plain(x))), [])
        self.assertEqual(self.pairs(nn.Conv2d(8, 8, (1, 3))(nn.Conv2d(3, 8, (3, 1))(x))), [])


class Activations(unittest.TestCase):
    def test_the_same_twice_is_repeated_and_two_others_are_not(self):
        x = torch.randn(4, 6, requires_grad=True)
        self.assertEqual(found(repeated_activation, x.tanh().view(6, 4).tanh()), ["tanh"])
        self.assertEqual(found(repeated_activation, x.softmax(1).softmax(1)), ["softmax"])
        for output in (x.tanh().sigmoid(), (x.relu() * 2).relu(), x.sigmoid()):
            self.assertEqual(found(repeated_activation, output), [])


class Scores(unittest.TestCase):
    def setUp(self):
        self.x, self.q, self.k = torch.randn(2, 5, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def heads(self, layer):
        return layer(self.x).view(2, 5, 2, 8).transpose(1, 2)

    def test_products_of_layers_without_a_factor_are_unscaled(self):
        hidden = torch.ones(5, 5).triu(1).bool()
        scores = self.heads(self.q) @ self.heads(self.k).mT
        for output in (scores.softmax(-1), scores.masked_fill(hidden, -1e9).softmax(-1), (scores + hidden).softmax(-1)):
            self.assertEqual(found(unscaled_attention, output), [8])

    def test_a_factor_anywhere_a_norm_and_a_learned_bias_are_a_scale(self):
        q, k = self.heads(self.q), self.heads(self.k)
        bias, pictures = torch.zeros(5, 5, requires_grad=True), nn.Conv1d(5, 8, 1)(self.x).mT
        for scores in (q @ k.mT / 8**0.5, (q * 8**-0.5) @ k.mT, F.normalize(q, dim=-1) @ k.mT, q @ k.mT + bias,
                       self.q(self.x) @ self.x.mT, pictures @ pictures.mT):  # fmt: skip
            self.assertEqual(found(unscaled_attention, scores.softmax(-1)), [])


class Zeros(unittest.TestCase):
    def test_units_that_are_zero_for_each_row_are_counted_from_half_on(self):
        layer = nn.Linear(6, 10)
        for dead, share in ((10, [(1.0, 10)]), (5, [(0.5, 10)]), (3, [])):
            with torch.no_grad():
                layer.bias.fill_(50.0)[:dead] = -50.0
            self.assertEqual(found(zero_units, layer(torch.randn(32, 6)).relu()), share)

    def test_few_rows_and_convolutions(self):
        layer = nn.Conv2d(3, 4, 3)
        nn.init.constant_(layer.bias, -50.0)
        self.assertEqual(found(zero_units, layer(torch.randn(2, 3, 9, 9)).relu()), [(1.0, 4)])
        self.assertEqual(found(zero_units, layer(torch.randn(1, 3, 5, 5)).relu()), [])


class Advantages(unittest.TestCase):
    def setUp(self):
        self.policy, self.critic, self.x = nn.Linear(4, 3), nn.Linear(4, 1), torch.randn(5, 4)
        self.actions, self.returns = torch.arange(5) % 3, torch.randn(5)
        self.values = self.critic(self.x).squeeze(-1)
        self.choice = Categorical(logits=self.policy(self.x))

    def weighs(self, output):
        return GRADED in found(weight_of_action, output)

    def test_values_of_a_critic_in_the_advantage_have_a_gradient(self):
        logs = F.log_softmax(self.policy(self.x), 1)
        chosen = (logs[torch.arange(5), self.actions], logs.gather(1, self.actions[:, None]).squeeze(1),
                  self.choice.log_prob(self.actions))  # fmt: skip
        for log in (*chosen, (chosen[2] - 0.5).exp(), torch.stack([chosen[2][0], chosen[2][1]])):
            advantage = self.returns[: len(log)] - self.values[: len(log)]
            self.assertTrue(self.weighs(-(log * advantage).sum()))

    def test_constants_entropies_and_divergences_are_no_advantage(self):
        log = self.choice.log_prob(self.actions)
        other = Categorical(logits=self.critic.weight.expand(5, 4)[:, :3])
        for output in (log * (self.returns - self.values.detach()), self.choice.entropy(),
                       torch.distributions.kl_divergence(self.choice, other), self.values * self.returns,
                       log * self.critic.weight.sum()):  # fmt: skip
            self.assertFalse(self.weighs(output))


class Metrics(unittest.TestCase):
    def test_shares_of_one_number_are_told_from_other_numbers(self):
        self.assertTrue(are_shares([n / 297 for n in (30, 180, 222, 260)]))
        self.assertFalse(are_shares([0.6931, 0.523341, 0.487263, 0.431717]))
        self.assertFalse(are_shares([1.5, 0.25, 0.5, 0.75]))
        self.assertFalse(are_shares([0.25, 0.25, 0.5, 0.5]))


class Saved(unittest.TestCase):
    def test_what_a_backward_freed_or_the_program_wrote_to_is_not_read(self):
        x = torch.randn(4, requires_grad=True)
        used, written = x.relu(), x.sigmoid()
        self.assertIsNotNone(private.saved(used.grad_fn, "result"))
        used.sum().backward()
        with torch.no_grad():
            written.mul_(2)
        for output in (used, written):
            self.assertIsNone(private.saved(output.grad_fn, "result"))


if __name__ == "__main__":
    unittest.main()
