"""What the experiment `held` says of a step whose samples are split into micro-batches in other ways."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

LOOP = textwrap.dedent(
    """
    import itertools
    import torch, torch.nn.functional as F
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    x = torch.randn(504, 12)
    y = torch.where(torch.rand(504) < 0.4, -100, x[:, :4].argmax(1))
    model = torch.nn.Sequential(torch.nn.Linear(12, 32), {layer}, torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def windows(loader):  # the last one of an epoch is shorter
        batches = iter(loader)
        while window := list(itertools.islice(batches, 4)):
            yield window

    for epoch in range(20):
        for window in {windows}(DataLoader(TensorDataset(x, y), {size}, shuffle={shuffle})):
            targets = sum((wanted >= 0).sum() for _, wanted in window)
            optimizer.zero_grad()
            for number, (given, wanted) in enumerate(window):
                {inside}
                outputs = model(given)
                ({loss}).backward()
            optimizer.step()
    """
)
CUT = {"windows": "(lambda loader: ([*zip(a.split(12), b.split(12))] for a, b in loader))", "size": 48}
USUAL = {"layer": "torch.nn.Tanh()", "windows": "windows", "size": 12, "shuffle": True, "inside": "pass",
         "loss": "F.cross_entropy(outputs, wanted, reduction='sum') / targets"}  # fmt: skip
MEAN = "F.cross_entropy(outputs, wanted) / len(window)"
ROUNDING = 1e-5


def held(**places):
    run = run_watched(python("-c", LOOP.format(**{**USUAL, **places})), experiment="fixed_batch", steps=96)
    if run.status != 0:
        raise AssertionError(run.err)
    return run.main


def value(trace, quantity):
    rows = trace.of("quantity", quantity)
    return rows[0].value if rows else None


def moved(trace):
    return value(trace, "turned_window"), value(trace, "mixed_window")


class Splits(unittest.TestCase):
    def test_sums_over_the_targets_of_the_window_bear_every_split(self):
        summed = "F.cross_entropy(outputs, wanted, reduction='sum')"
        for places in ({}, CUT, {"loss": summed}):
            trace = held(**places)
            self.assertLess(max(moved(trace)), ROUNDING, places)
            self.assertFalse([key for key in trace.process if key.startswith(("untried/split", "hook"))])

    def test_a_mean_of_means_moves_with_the_samples_alone(self):
        for places in ({}, CUT):
            trace = held(loss=MEAN, **places)
            turned, mixed = moved(trace)
            self.assertLess(turned, ROUNDING)
            self.assertGreater(mixed, 0.01)
            self.assertLess(value(trace, "bent_window"), ROUNDING)

    def test_places_that_count_otherwise_are_told(self):
        for inside, factor, wanted in (("optimizer.zero_grad()", 1, [0, 0, 0, 1]),
                                       ("if number == 1: continue", 1, [0.3333, 0, 0.3333, 0.3333]),
                                       ("pass", "(1 + (number == 2))", [0.2, 0.2, 0.4, 0.2])):  # fmt: skip
            trace = held(layer="torch.nn.BatchNorm1d(32)", inside=inside, loss=f"{MEAN} * {factor}")
            self.assertGreater(value(trace, "turned_window"), 0.1)
            shares = [round(row.value, 4) for row in trace.of("quantity", "micro_batch_share")]
            self.assertEqual(shares, wanted)

    def test_samples_that_act_on_each_other_are_told_from_unequal_weights(self):
        contrast = "F.cross_entropy(outputs @ outputs.T, torch.arange(len(outputs))) / len(window)"
        for places in ({"layer": "torch.nn.BatchNorm1d(32)", "loss": MEAN}, {"loss": contrast}):
            trace = held(**places)
            self.assertLess(value(trace, "turned_window"), ROUNDING)
            self.assertGreater(value(trace, "bent_window"), 0.1 * value(trace, "mixed_window"))

    def test_what_cannot_be_judged_says_why(self):
        for places, reason in (({"shuffle": False}, "the DataLoader does not shuffle"),
                               ({"windows": "(lambda loader: ([batch] for batch in loader))"},
                                "one micro-batch makes a step")):  # fmt: skip
            trace = held(**places)
            self.assertIn(reason, trace.process["untried/split"])
            self.assertEqual(moved(trace), (None, None))
        self.assertIn("only one sample", held(size=1).process["untried/mixed"])


if __name__ == "__main__":
    unittest.main()
