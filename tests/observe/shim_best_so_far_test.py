"""What a program takes for its best result so far is read from its source."""

import sys
import unittest

from tests.observe.reading import ROOT

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.source.best_so_far import CORRECT, LOSS, worst_kept  # noqa: E402
from dlcheck_shim.source.trees import tree_of  # noqa: E402

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


def found(value, test, keep="save(net)", evaluated=True, otherwise="waited += 1"):
    source = SOURCE.replace("VALUE", value).replace("TEST", test).replace("KEEP", keep).replace("waited += 1", otherwise)
    lines = [{number for number, line in enumerate(source.splitlines(), 1) if f"# {word}" in line} for word in ("loss", "forward")]
    return [(kind, weights) for _, kind, weights, *_ in worst_kept(tree_of(source.encode()), lines[0], lines[0] if evaluated else set(), lines[1])]


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
        for keep in ("kept = x.clone()", "kept = copy.deepcopy(x)", "pass", "print(value)", "torch.save({'x': x}, path)"):
            self.assertEqual(found("loss", "value > best", keep), [])
        self.assertEqual(found("loss", "value > best", "waited = 0", evaluated=False), [])
        self.assertEqual(found("loss", "value > best", otherwise="best = value"), [])

    def test_what_is_not_sure_is_passed_over(self):
        for value in ("10 * math.log(1 / F.mse_loss(out, y))", "max(0.0, loss)", "psnr(loss, 1.0)", "(pred[y == 0] == 1).float().mean()",
                      "((pred == y) == False).float().mean()", "-loss", "1 - loss", "loss - 2", "score(loss)", "-1 * loss", "reward"):
            with self.subTest(value=value):
                self.assertEqual(found(value, "value > best"), [])
                self.assertEqual(found(value, "value < best"), [])


class Cost(unittest.TestCase):
    def test_a_loss_that_is_added_up_in_many_statements_is_looked_through_at_once(self):
        terms = "".join("loss = loss + F.mse_loss(a, b)\n" for _ in range(200))
        source = terms + "if loss > best:\n    best = loss\n    torch.save(net.state_dict(), path)\n"
        lines = set(range(1, 201))
        self.assertEqual([kind for _, kind, *_ in worst_kept(tree_of(source.encode()), lines, set(), set())], [LOSS])

    def test_a_loss_that_somebody_is_to_have_may_be_high(self):
        source = "leak = F.mse_loss(a, b)\ntask = task - 0.1 * leak\nif leak > best:\n    best = leak\n    torch.save(net.state_dict(), path)\n"
        self.assertEqual(worst_kept(tree_of(source.encode()), {1}, {1}, set()), [])


if __name__ == "__main__":
    unittest.main()
