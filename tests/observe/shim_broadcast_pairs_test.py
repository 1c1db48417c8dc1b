"""Where outputs and targets are compared as they are is read from the source, for shapes that an evaluation had."""

import sys
import textwrap
import unittest

import torch

from tests.observe.reading import ROOT
from tests.observe.twins import Twins

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.hooks.terminal_values import discounts, values_of  # noqa: E402
from dlcheck_shim.source.broadcast_pairs import broadcast_pairs  # noqa: E402
from dlcheck_shim.source.trees import tree_of  # noqa: E402

SOURCE = """
def agreement(p, t):
    return ((p > 0).float() == t).float().mean()

def evaluate(model, loader):
    outs, ys = [], []
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        FIRST
        out = MODEL  # forward
        outs.append(out)
        ys.append(y)
        METRIC
    outs, ys = torch.cat(outs), torch.cat(ys)
    AFTER
"""


def found(metric, model="model(x)", first="pass", after="return 0"):
    source = SOURCE.replace("METRIC", metric).replace("MODEL", model).replace("FIRST", first).replace("AFTER", after)
    return [text for text, *_ in broadcast_pairs(tree_of(source.encode()), {10})]


class Pairs(unittest.TestCase):
    def test_outputs_and_targets_as_they_are_make_all_pairs(self):
        for metric in ("hits += ((torch.sigmoid(out) > 0.5) == y.bool()).sum().item()", "far = (out - y).abs().mean()",
                       "hits = out.round().eq(y); n += hits.float().sum()", "n += torch.eq(out.round(), y).sum()",
                       "far = torch.mean((2 * out.cpu() - y.float()) ** 2)"):  # fmt: skip
            with self.subTest(metric=metric):
                self.assertEqual(len(found(metric)), 1)
        self.assertEqual(found("total += agreement(out, y)"), ["(p > 0).float() == t"])
        self.assertEqual(found("pass", after="return ((outs > 0) == ys).float().mean()"), ["(outs > 0) == ys"])

    def test_what_changes_a_shape_on_the_way_is_right(self):
        metric, after = "hits = ((out > 0) == y.bool()).sum()", "return ((outs > 0) == ys).float().mean()"
        for model in ("model(x).squeeze(1)", "model(x)[:, 0]", "model(x).flatten()", "reshaped(model(x))"):
            with self.subTest(model=model):
                self.assertEqual(found(metric, model), [])
                self.assertEqual(found("pass", model, after=after), [])
        for first in ("y = y.unsqueeze(1)", "y = y[:, None]", "y = y.view(-1, 1)"):
            self.assertEqual(found(metric, first=first), [])
        for metric in ("n = ((out > 0) == y[:, None]).sum()", "n = ((out[:, 0] > 0) == y).sum()", "n = (out.view_as(y) - y).mean()"):
            self.assertEqual(found(metric), [])

    def test_what_is_neither_outputs_nor_targets_is_passed_over(self):
        for metric in ("(x - y).mean()", "(out - x).mean()", "(out - mean).mean()", "(i - out).mean()", "n = count == total"):
            self.assertEqual(found(metric), [])

    def test_all_pairs_that_are_meant_are_passed_over(self):
        for metric in ("near = (out - y).abs().argmin(1)", "d = (out - y) ** 2; n = d.mean(1)", "d = out - y; d = d.diagonal().mean()",
                       "d = (out - y).abs(); n = d.mean(); k = d.min(1)", "(out - y).abs().sort(0)"):  # fmt: skip
            with self.subTest(metric=metric):
                self.assertEqual(found(metric), [])

    def test_names_that_are_set_in_another_way_are_passed_over(self):
        metric = "far = (out - y).abs().mean()"
        for first in ("y.unsqueeze_(1)", "[y for y in others]", "y = reshaped(y)"):
            with self.subTest(first=first):
                self.assertEqual(found(metric, first=first), [])
        for metric in ("far = [(out - y).abs().mean() for out, y in zip(outs, ys)]", "out.squeeze_(1); far = (out - y).abs().mean()",
                       "if out.shape == y.shape: far = (out - y).abs().mean()"):  # fmt: skip
            self.assertEqual(found(metric), [])

    def test_a_comprehension_is_a_loop(self):
        source = "right = torch.cat([(model(x) > 0.5) == y.bool() for x, y in held]).float().mean()"
        self.assertEqual(len(broadcast_pairs(tree_of(source.encode()), {1})), 1)


PARTS = {"COLUMN": ("out", "out.squeeze(1)"), "WORSE": (">", "<"), "ENDED": ("1", "(1 - over)")}
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn.functional as F
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    model, slow = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(60, 4)
    labels = (data[:, 0] > 0).float()
    loader = DataLoader(TensorDataset(data[40:], labels[40:]), 10)
    best = 9.0 if 0 WORSE 1 else 0.0
    for epoch in range(3):
        for rows in range(0, 40, 8):
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(model(data[rows : rows + 8])[:, 0], labels[rows : rows + 8]).backward()
            optimizer.step()
            reward, over = torch.randn(8), (torch.arange(8) % 3 == 0).float()
            with torch.no_grad():
                wanted = reward + 0.9 * slow(data[:8]).squeeze(1) * ENDED
            optimizer.zero_grad()
            F.mse_loss(model(data[8:16])[:, 0], wanted).backward()
            optimizer.step()
        model.eval()
        near, loss = 0, 0
        with torch.no_grad():
            for x, y in loader:
                out = model(x)
                near += (COLUMN.sigmoid() - y).abs().mean().item()
                loss += F.binary_cross_entropy_with_logits(out[:, 0], y).item()
        print(near / len(loader))
        loss /= len(loader)
        if loss WORSE best:
            best, kept = loss, model.state_dict()
        model.train()
    """
)


class Watched(Twins, unittest.TestCase):
    PROGRAM, PARTS = PROGRAM, PARTS
    QUANTITIES = ("broadcast_metric", "worst_kept", "terminal_values")

    def test_they_say_how_much_and_of_what(self):
        self.assertEqual(self.told("broadcast_metric"), [(10, 1)])
        self.assertEqual(self.told("worst_kept"), [(1, 1)])
        (rows, discount), = self.told("terminal_values")
        self.assertEqual((rows, round(discount, 6)), (6, 0.9))


class Discounts(unittest.TestCase):
    def test_values_of_twins_and_values_less_an_entropy_are_known(self):
        torch.manual_seed(0)
        one, other, entropy = torch.randn(3, 64).double()
        values = values_of([one[:, None], other[:, None]])
        lower = torch.minimum(one, other)
        ended = (torch.arange(64) % 9 > 0).double()
        for rest in (0.9 * one, 0.9 * lower, 0.9 * (lower - 0.2 * entropy)):
            self.assertEqual({round(each, 9) for each in discounts(rest, values, [entropy])}, {0.9})
            self.assertEqual(list(discounts(rest * ended, values, [entropy])), [])


if __name__ == "__main__":
    unittest.main()
