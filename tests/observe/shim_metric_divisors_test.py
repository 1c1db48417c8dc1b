"""By what a program divides the sums over batches is read from its source."""

import sys
import textwrap
import unittest

from tests.observe.reading import ROOT
from tests.observe.twins import Twins

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.source.divided import MEAN_OF_MEANS, MEANS_BY_SAMPLES, SUMS_BY_BATCHES, divided_sums, growing_sums  # noqa: E402
from dlcheck_shim.source.trees import tree_of  # noqa: E402

SOURCE = """
def evaluate(model, loader):
    total = correct = count = batches = 0
    for x, y in loader:
        scores = model(x)  # forward
        loss = F.cross_entropy(scores, y)  # mean
        total += ADDED
        count += len(y)
        batches += 1
    return total / DIVISOR
"""


def kinds(added, divisor, source=SOURCE, mark="# mean"):
    source = source.replace("ADDED", added).replace("DIVISOR", divisor).replace("# mean", mark)
    lines = {word: {number for number, line in enumerate(source.splitlines(), 1) if f"# {word}" in line}
             for word in ("mean", "sum", "forward")}  # fmt: skip
    found = divided_sums(tree_of(source.encode()), lines["mean"], lines["sum"], lines["forward"])
    return [(name, kind) for name, kind, *_ in found]


class Divisors(unittest.TestCase):
    def test_means_by_the_number_of_batches_are_a_mean_of_means(self):
        for added in ("loss.item()", "loss", "float(loss)", "loss.detach().cpu().item()", "(scores.argmax(1) == y).float().mean().item()"):
            for divisor in ("len(loader)", "batches"):
                with self.subTest(added=added, divisor=divisor):
                    self.assertEqual(kinds(added, divisor), [("total", MEAN_OF_MEANS)])

    def test_means_by_the_number_of_samples_are_too_small(self):
        for divisor in ("len(loader.dataset)", "count"):
            with self.subTest(divisor=divisor):
                self.assertEqual(kinds("loss.item()", divisor), [("total", MEANS_BY_SAMPLES)])

    def test_sums_by_the_number_of_batches_are_too_large(self):
        for added in ("(scores.argmax(1) == y).sum().item()", "loss.item() * len(y)", "x.size(0) * loss.item()"):
            with self.subTest(added=added):
                self.assertEqual(kinds(added, "len(loader)"), [("total", SUMS_BY_BATCHES)])

    def test_sums_by_the_number_of_samples_are_right(self):
        for added in ("(scores.argmax(1) == y).sum().item()", "loss.item() * len(y)"):
            for divisor in ("len(loader.dataset)", "count"):
                with self.subTest(added=added, divisor=divisor):
                    self.assertEqual(kinds(added, divisor), [])

    def test_a_loss_that_is_a_sum_counts_samples(self):
        self.assertEqual(kinds("loss.item()", "count", mark="# sum"), [])
        self.assertEqual(kinds("loss.item()", "batches", mark="# sum"), [("total", SUMS_BY_BATCHES)])

    def test_what_is_not_known_is_passed_over(self):
        for added, divisor in (("weight * loss.item()", "len(loader)"), ("loss.item()", "number"), ("scores.sum().item()", "len(loader)"),
                               ("loss.item()", "len(other.dataset)"), ("penalty(loss)", "batches")):  # fmt: skip
            with self.subTest(added=added, divisor=divisor):
                self.assertEqual(kinds(added, divisor), [])

    def test_a_mean_of_a_list_is_one_of_means(self):
        source = SOURCE.replace("total += ADDED", "losses.append(ADDED)")
        self.assertEqual(kinds("loss.item()", "", source.replace("total / DIVISOR", "sum(losses) / len(losses)")), [("losses", MEAN_OF_MEANS)])
        self.assertEqual(kinds("loss.item()", "", source.replace("total / DIVISOR", "np.mean(losses)")), [("losses", MEAN_OF_MEANS)])

    def test_the_data_of_a_loader_are_known_by_name(self):
        source = "loader = torch.utils.data.DataLoader(held, 32)\n" + SOURCE
        self.assertEqual(kinds("loss.item()", "len(held)", source), [("total", MEANS_BY_SAMPLES)])
        self.assertEqual(kinds("loss.item()", "len(held)"), [])

    def test_a_loop_with_a_bar_is_over_the_loader(self):
        source = SOURCE.replace("for x, y in loader", "for i, (x, y) in enumerate(tqdm(loader))")
        self.assertEqual(kinds("loss.item()", "len(loader.dataset)", source), [("total", MEANS_BY_SAMPLES)])


EPOCHS = """
running = seen = 0
for epoch in range(5):
    WITHIN
    for x, y in loader:
        loss = train(x, y)  # trains
        running += loss.item()
        seen += len(y)
    print(running / DIVISOR)
"""


class Epochs(unittest.TestCase):
    def found(self, divisor, within="pass"):
        tree = tree_of(EPOCHS.replace("DIVISOR", divisor).replace("WITHIN", within).encode())
        return [(name, line) for name, line, _ in growing_sums(tree, {6})]

    def test_a_sum_that_is_divided_by_the_size_of_an_epoch_is_to_be_set_back(self):
        for divisor in ("len(loader)", "len(loader.dataset)"):
            with self.subTest(divisor):
                self.assertEqual(self.found(divisor), [("running", 2)])
                self.assertEqual(self.found(divisor, "running = 0"), [])

    def test_a_sum_over_all_epochs_may_be_meant(self):
        for divisor in ("seen", "(epoch + 1)", "(time.time() - start)"):
            with self.subTest(divisor):
                self.assertEqual(self.found(divisor), [])


PARTS = {"EACH": ("7", "10"), "BY": ("len(held)", "len(loader)"), "OF": ("len(loader)", "len(held)")}
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn.functional as F
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(60, 4)
    labels = (data[:, 0] > 0).long()
    held = TensorDataset(data[40:], labels[40:])
    loader = DataLoader(held, EACH)
    for epoch in range(3):
        for rows in range(0, 40, 8):
            optimizer.zero_grad()
            F.cross_entropy(model(data[rows : rows + 8]), labels[rows : rows + 8]).backward()
            optimizer.step()
        model.eval()
        losses, small, right, shares = 0, 0, 0, []
        with torch.no_grad():
            for x, y in loader:
                scores = model(x)
                loss = F.cross_entropy(scores, y)
                losses += loss.item()
                small += loss.item()
                right += (scores.argmax(1) == y).sum().item()
            for x, y in loader:
                shares.append((model(x).argmax(1) == y).float().mean().item())
        print(losses / len(loader), small / BY, right / OF, sum(shares) / len(shares))
        model.train()
    """
)


class Watched(Twins, unittest.TestCase):
    PROGRAM, PARTS = PROGRAM, PARTS
    QUANTITIES = ("mean_of_batch_means", "unequal_batches", "wrong_divisor")

    def test_they_have_the_numbers_of_the_evaluation(self):
        (means, whole), = self.told("mean_of_batch_means")
        self.assertTrue(means != whole and abs(means - whole) < 0.2)
        self.assertEqual(self.told("unequal_batches"), [(6, 7)])
        self.assertEqual(sorted(self.told("wrong_divisor")), [(2, 7), (3, 7)])


if __name__ == "__main__":
    unittest.main()
