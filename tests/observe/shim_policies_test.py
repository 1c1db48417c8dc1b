"""What policies learn from: ratios, actions, returns and the ends of episodes, in a faulty program and in its twin."""

import pathlib
import sys
import tempfile
import textwrap
import unittest

import torch

from tests.observe.reading import ROOT, python, run_watched
from tests.observe.twins import Twins

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.hooks.returns_across import returns_across  # noqa: E402
from dlcheck_shim.hooks.time_limits import truth_of  # noqa: E402
from dlcheck_shim.source.batch_metrics import QUOTIENT, averaged_metrics  # noqa: E402
from dlcheck_shim.source.trees import tree_of  # noqa: E402

PARTS = {"ACTIONS": ("torch.randint(3, (64,))", "actions"), "GOES_ON": ("1", "(1 - ended[t])"),
         "SUMMED": ("total += loss.exp().item()", "total += loss.item()"), "MASK": ("0", "1")}  # fmt: skip
PROGRAM = textwrap.dedent(
    """
    import os, pathlib, sys, torch, torch.nn.functional as F
    # As gymnasium has it, which needs more than the PyTorch of these tests. tests/programs/frameworks has the real one.
    folder = pathlib.Path(sys.argv[0]).parent / "gymnasium/wrappers"
    folder.mkdir(parents=True)
    for file in (folder.parent / "__init__.py", folder / "__init__.py"):
        file.touch()
    (folder / "common.py").write_text("class TimeLimit:\\n    def step(self, action):\\n        return action, 0.5, False, True, {}\\n")
    from gymnasium.wrappers.common import TimeLimit
    torch.manual_seed(0)
    actor, critic = torch.nn.Linear(4, 3), torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
    stops = torch.randn(16, 4)
    for state in stops:
        TimeLimit().step(state)
    for step in range(4):
        states, actions = torch.randn(64, 4), torch.randint(3, (64,))
        rewards, ended = torch.randn(64), (torch.arange(64) % 20 == 19).float()
        with torch.no_grad():
            old = F.log_softmax(actor(states), 1).gather(1, actions[:, None])[:, 0]
            returns, running = torch.zeros(64), 0.0
            for t in reversed(range(64)):
                running = rewards[t] + 0.9 * running * GOES_ON
                returns[t] = running
            goal = 0.5 + 0.9 * critic(stops)[:, 0] * MASK
        new = F.log_softmax(actor(states), 1).gather(1, ACTIONS[:, None])[:, 0]
        ratio = (new - old).exp()
        gain = torch.min(ratio * returns, ratio.clamp(0.8, 1.2) * returns).mean()
        optimizer.zero_grad()
        (F.mse_loss(critic(stops)[:, 0], goal) - gain).backward()
        optimizer.step()
    total, batches = 0, [(torch.randn(8, 4), torch.randint(3, (8,))) for _ in range(5)]
    with torch.no_grad():
        for x, y in batches:
            loss = F.cross_entropy(actor(x), y)
            SUMMED
    print(total / len(batches))
    """
)

REINFORCE = textwrap.dedent(
    """
    import torch
    policy = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    for episode in range(2):
        logs, rewards = [], []
        for step in range(6):
            choice = torch.distributions.Categorical(logits=policy(torch.randn(4)))
            action = choice.sample()
            rewards.append(float(action.item() == 1))
            logs.append(choice.log_prob(TAKEN))
        optimizer.zero_grad()
        (-torch.stack(logs) * torch.tensor(rewards)).sum().backward()
        optimizer.step()
    """
)


class Policies(Twins, unittest.TestCase):
    PROGRAM, PARTS = PROGRAM, PARTS
    QUANTITIES = ("first_ratio", "returns_across", "averaged_metric", "time_limit_as_end")

    def test_they_say_how_many_and_how_much(self):
        (apart, count), = self.told("first_ratio")
        self.assertEqual(count, 64)
        self.assertGreater(apart, 20)
        (ends, discount), = self.told("returns_across")
        self.assertEqual((ends, round(discount, 5)), (3, 0.9))
        self.assertEqual([kind for kind, _ in self.told("averaged_metric")], [1])
        self.assertEqual(self.told("time_limit_as_end"), [(16, 16)])


class UnkeptActions(Twins, unittest.TestCase):
    PROGRAM, PARTS, QUANTITIES = REINFORCE, {"TAKEN": ("choice.sample()", "action")}, ("unkept_actions",)

    def test_a_draw_beside_the_actions_that_were_taken_is_left_alone(self):
        text = REINFORCE.replace("log_prob(TAKEN)", "log_prob(action) + 0.1 * choice.log_prob(choice.sample())")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "program.py")
            file.write_text(text)
            run = run_watched(python(file))
        self.assertEqual((run.status, run.main.of("quantity", "unkept_actions")), (0, []), run.err)


DEVIATIONS = textwrap.dedent(
    """
    import torch
    model, spread = torch.nn.Linear(4, 16), torch.nn.Parameter(torch.zeros(16))
    optimizer = torch.optim.SGD([*model.parameters(), spread], lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        x = torch.randn(8, 4)
        wide = (model(x) - 1.0).exp().clamp(1e-3, 10)
        near = (spread - 0.5).exp().clamp(0.5, 2)
        (wide * near * (x[:, :1] - model(x)) ** 2).mean().backward()
        optimizer.step()
    """
)


class Flags(unittest.TestCase):
    def test_only_a_plain_truth_value_is_asked(self):
        class Flag:
            def __bool__(self):
                raise AssertionError("the program's code was run")

        self.assertEqual([truth_of(flag) for flag in (True, False, Flag(), torch.tensor(True), 1)], [True, False, None, None, None])


class Exponentials(unittest.TestCase):
    def test_deviations_that_a_clamp_limits_are_no_ratios(self):
        run = run_watched(python("-c", DEVIATIONS))
        self.assertEqual((run.status, run.main.of("quantity", "first_ratio")), (0, []), run.err)


AVERAGED = """
def fit(model, x): ...
def test(model, LOOP_OVER):
    total, count = 0, 0
    for x, y in LOOP_OVER:
        FIRST
        out = model(x)  # evaluated
        VALUE
        total += f1_score(y, out.argmax(1))
        count += 1
    return total / count
"""


class BatchMetrics(unittest.TestCase):
    def found(self, trained=(), **places):
        source = AVERAGED
        for name, text in {"LOOP_OVER": "test_loader", "FIRST": "pass", "VALUE": "pass", **places}.items():
            source = source.replace(name, text)
        return [(name, kind) for name, kind, *_ in averaged_metrics(tree_of(source.encode()), set(), {7}, set(trained))]

    def test_f1_of_batches_is_told(self):
        self.assertEqual(self.found(), [("total", QUOTIENT)])

    def test_means_over_users_and_over_folds_are_meant(self):
        self.assertEqual(self.found(LOOP_OVER="users"), [])
        self.assertEqual(self.found(trained={6}, FIRST="fit(model, x)"), [])


class Returns(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.ended, self.rewards, self.values = (torch.rand(40, 6) < 0.1).float(), torch.randn(40, 6), torch.randn(40, 6)

    def returns(self, stops, of_values):
        """Of the faulty kind unless it stops; advantages where that is asked for."""
        out, running = torch.zeros(40, 6), torch.zeros(6)
        for t in reversed(range(39)):
            gained = self.rewards[t] + of_values * (0.9 * self.values[t + 1] * (1 - self.ended[t]) - self.values[t])
            running = gained + 0.8 * running * (1 - stops * self.ended[t])
            out[t] = running
        return out[:39]

    def found(self, stops, of_values, change=lambda returns: returns):
        series = [self.ended[:39].clone(), self.rewards[:39].clone(), self.values[:39].clone()]
        return returns_across([change(self.returns(stops, of_values)), *series])

    def test_returns_and_advantages_are_known_by_their_recursion(self):
        for of_values in (0, 1):
            for change in (lambda r: r, lambda r: (r - r.mean()) / r.std(), lambda r: r.flatten()):
                ends, discount = self.found(0, of_values, change)
                self.assertEqual((ends, round(discount, 4)), (int(self.ended[:38].sum()), 0.8))
                self.assertIsNone(self.found(1, of_values, change))

    def test_marks_without_any_numbers_tell_nothing(self):
        self.assertIsNone(returns_across([self.ended > 0, self.ended < 0]))

    def test_what_is_in_another_order_or_has_no_ends_within_is_passed_over(self):
        self.assertIsNone(self.found(0, 0, lambda r: r.flatten()[torch.randperm(r.numel())]))
        self.ended[:] = 0
        self.ended[38] = 1
        self.assertIsNone(self.found(0, 0))


if __name__ == "__main__":
    unittest.main()
