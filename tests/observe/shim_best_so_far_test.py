"""What a program takes for its best result so far is read from its source."""

import sys
import unittest

from tests.observe.reading import ROOT

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.hooks.best_so_far import CORRECT, LOSS, worst_kept  # noqa: E402
from dlcheck_shim.hooks.idle_statements import tree_of  # noqa: E402

SOURCE = """
def evaluate(net, loader):
    total, count, hits = 0.0, 0, 0
    for x, y in loader:
        out = net(x)  # forward
        total += F.cross_entropy(out, y).item() * len(y)  # loss
        hits += (out.argmax(1) == y).sum().item()
        count += len(y)
    total /= count
    return total, {"share": hits / count}

def save(net):
    torch.save(net.state_dict(), "best.pt")

def main(net):
    best, kept, waited = 0.0, None, 0
    for epoch in range(3):
        loss, shares = evaluate(net, val)
        value = VALUE
        if TEST:
            best = value
            KEEP
        else:
            waited += 1
"""


def found(value, test, keep="save(net)"):
    source = SOURCE.replace("VALUE", value).replace("TEST", test).replace("KEEP", keep)
    lines = [{number for number, line in enumerate(source.splitlines(), 1) if f"# {word}" in line} for word in ("loss", "forward")]
    return [(kind, weights) for _, kind, weights, *_ in worst_kept(tree_of(source.encode()), *lines)]


class WorstKept(unittest.TestCase):
    def test_the_highest_loss_and_the_lowest_accuracy_are_the_worst(self):
        for value, higher, lower in (("loss", [(LOSS, True)], []), ("shares['share']", [], [(CORRECT, True)]), ("math.exp(loss)", [(LOSS, True)], [])):
            for test in ("value > best", "best < value", "epoch > 0 and value >= best", "0 < best < value"):
                with self.subTest(value=value, test=test):
                    self.assertEqual(found(value, test), higher)
            self.assertEqual(found(value, "value < best"), lower)

    def test_a_copy_of_the_weights_and_a_new_count_of_patience_keep_it_too(self):
        for keep, weights in (("kept = copy.deepcopy(net.state_dict())", True), ("kept = copy.deepcopy(net)", True), ("waited = 0", False)):
            with self.subTest(keep=keep):
                self.assertEqual(found("loss", "value > best", keep), [(LOSS, weights)])

    def test_what_is_not_kept_for_later_use_may_be_the_worst_case(self):
        for keep in ("kept = x.clone()", "kept = copy.deepcopy(x)", "pass", "print(value)"):
            self.assertEqual(found("loss", "value > best", keep), [])

    def test_what_is_not_sure_is_passed_over(self):
        for value in ("-loss", "1 - loss", "loss - 2", "score(loss)", "-1 * loss", "reward"):
            with self.subTest(value=value):
                self.assertEqual(found(value, "value > best"), [])
                self.assertEqual(found(value, "value < best"), [])


if __name__ == "__main__":
    unittest.main()
