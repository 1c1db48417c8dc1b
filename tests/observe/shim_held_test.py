"""What the experiment `held` says of a step whose batches are arranged in other ways."""

import textwrap
import unittest

import torch

from checks.observe.python.dlcheck_shim.experiments.fixed_batch import orders
from checks.observe.python.dlcheck_shim.experiments.fixed_batch.batches import Unarrangeable, samples_of, with_orders
from tests.observe.reading import python, run_watched

LOOP = textwrap.dedent(
    """
    import random
    import torch, torch.nn.functional as F
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(2)
    x = torch.randn(240, 6)
    data = TensorDataset(x, {labels})
    model = torch.nn.Sequential(
        torch.nn.Linear(6, 16), {layer}, torch.nn.ReLU(), torch.nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    {others}
    for epoch in range(12):
        for number, (inputs, targets) in enumerate(DataLoader(data, 16, shuffle={shuffle})):
            optimizer.zero_grad()
            {before}
            outputs = model(inputs)
            loss = {loss}
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
    """
)
USUAL = {
    "labels": "x[:, :3].argmax(1)", "layer": "torch.nn.Dropout(0.2)", "others": "", "shuffle": True,
    "before": "", "loss": "F.cross_entropy(outputs, targets)",
}  # fmt: skip
ROUNDING = 1e-5


def held(**places):
    run = run_watched(python("-c", LOOP.format(**{**USUAL, **places})), experiment="fixed_batch", steps=64)
    if run.status != 0:
        raise AssertionError(run.err)
    return run.main


def value(trace, quantity):
    rows = trace.of("quantity", quantity)
    return rows[0].value if rows else None


def misplaced(**places):
    return value(held(**places), "misplaced_targets")


class HeldSteps(unittest.TestCase):
    def test_a_healthy_step_bears_every_arrangement(self):
        for layer in ("torch.nn.Dropout(0.2)", "torch.nn.BatchNorm1d(16)"):
            trace = held(layer=layer)
            self.assertLess(value(trace, "order_sensitivity"), ROUNDING)
            (targets,) = trace.of("quantity", "misplaced_targets")
            self.assertEqual(targets.value, 0)
            self.assertGreaterEqual(targets.aux, 8)
            self.assertLess(value(trace, "summed_part"), ROUNDING)
            self.assertEqual(trace.process["held_order"], "random")
            self.assertEqual(trace.rows[-1].name, "stopped")
            untried = [key for key in trace.process if key.startswith(("untried", "hook"))]
            self.assertEqual(untried, ["untried/split"])  # one micro-batch makes a step

    def test_targets_of_other_samples(self):
        plain, norm = "torch.nn.Identity()", "torch.nn.BatchNorm1d(16)"
        for before, layer in (("targets = targets.roll(1)", norm), ("inputs = inputs.flip(0)", plain),
                              ("targets = targets.sort().values", norm),
                              ("inputs[0], inputs[9] = inputs[9].clone(), inputs[0].clone()", plain)):  # fmt: skip
            trace = held(before=before, layer=layer)
            self.assertGreater(value(trace, "misplaced_targets"), 0, before)
            self.assertGreater(value(trace, "order_sensitivity"), 0.01, before)

    def test_targets_that_are_dealt_at_random(self):
        trace = held(before="targets = targets[torch.randperm(16)]")
        self.assertGreater(value(trace, "misplaced_targets"), 0)
        self.assertEqual(trace.process["held_draws"], "1")
        self.assertEqual(trace.process["untried/order"], "the steps draw random numbers")

    def test_what_is_dealt_together_is_in_place(self):
        order = "inputs, targets = inputs[order], targets[order]"
        for before in (f"order = torch.randperm(16); {order}",
                       f"order = inputs[:, 0].argsort(); {order}",
                       f"order = torch.arange(15, -1, -1); {order}"):  # fmt: skip
            self.assertIn(misplaced(before=before), (0, None), before)

    def test_samples_that_are_mixed_on_purpose_are_in_place(self):
        both = "0.8 * F.cross_entropy(outputs, targets) + 0.2 * F.cross_entropy(outputs, targets.flip(0))"
        soft = "F.cross_entropy(outputs, 0.7 * F.one_hot(targets, 3) + 0.3 * F.one_hot(targets, 3).flip(0))"
        for places in ({"before": "inputs = 0.8 * inputs + 0.2 * inputs.flip(0)", "loss": both},
                       {"loss": both}, {"loss": soft}):  # fmt: skip
            trace = held(**places)
            self.assertIn(value(trace, "misplaced_targets"), (0, None), places)
            self.assertGreater(value(trace, "order_sensitivity"), 0.01)

    def test_sums_beside_means(self):
        penalty = "F.cross_entropy(outputs, targets) + {} * outputs.square().sum()"
        for loss, mixes in ((penalty.format(0.001), True), (penalty.format(0), False),
                            ("F.cross_entropy(outputs, targets, reduction='sum')", False),
                            ("F.cross_entropy(outputs, targets, reduction='sum')"
                             " + sum(p.square().sum() for p in model.parameters())", False),
                            ("F.cross_entropy(outputs, targets)"
                             " + sum(p.square().sum() for p in model.parameters())", False)):  # fmt: skip
            trace = held(loss=loss)
            parts = value(trace, "summed_part"), value(trace, "averaged_part")
            self.assertEqual(min(parts) > ROUNDING, mixes, (loss, parts))
            self.assertLess(trace.of("quantity", "averaged_part")[0].aux, ROUNDING)

    def test_a_program_that_bears_no_other_size_keeps_what_was_found(self):
        trace = held(before="inputs = inputs.view(16, 2, 3).flatten(1)", shuffle=True)
        self.assertLess(value(trace, "order_sensitivity"), ROUNDING)
        self.assertIn("RuntimeError", trace.process["untried/sizes"])
        self.assertEqual(trace.rows[-1].name, "stopped")

    def test_what_cannot_be_carried_out_is_refused(self):
        second = "second = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1)"
        for places, reason in (
            ({"others": second, "before": "second.step()"}, "more than one optimizer steps"),
            ({"others": "x = iter(range(10**6))", "loss": "F.cross_entropy(outputs, targets) * (1 + next(x))"},
             "a different or a non-finite gradient each time"),
            ({"before": "inputs, targets = data[:16]"}, "no part of the batch is used only as the targets"),
        ):  # fmt: skip
            trace = held(**places)
            said = trace.process.get("refused") or trace.process["untried/targets"]
            self.assertIn(reason, said)
            self.assertFalse(trace.of("quantity", "misplaced_targets"))


class Orders(unittest.TestCase):
    def test_no_row_stays_and_none_is_lost(self):
        for count in range(orders.FEWEST, 40):
            order = orders.permuted(count)
            self.assertEqual(sorted(order), list(range(count)))
            self.assertFalse(any(place == row for place, row in enumerate(order)))
            self.assertFalse(orders.commutes(order, orders.rotated(range(count), count)))

    def test_halves_are_dealt_apart(self):
        first, second = orders.halves(9)
        self.assertEqual(sorted(first + second), list(range(9)))
        dealt = orders.rotated(first, 9)
        self.assertEqual([row for row in range(9) if dealt[row] != row], sorted(first))

    def test_leaves_of_a_batch_are_dealt_alike(self):
        batch = {"x": torch.arange(8).view(4, 2), "texts": ["a", "b", "c", "d"]}
        dealt = with_orders(batch, lambda _, rows: range(rows - 1, -1, -1))
        self.assertEqual(dealt["x"][:, 0].tolist(), [6, 4, 2, 0])
        self.assertEqual(dealt["texts"], ["d", "c", "b", "a"])
        for unlike in ([torch.ones(4), torch.ones(3)], [torch.ones(())], [object()]):
            self.assertRaises(Unarrangeable, samples_of, unlike)


if __name__ == "__main__":
    unittest.main()
