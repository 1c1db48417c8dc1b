"""What an evaluation adds up and never sets back is read from the source of a program."""

import sys
import textwrap
import unittest

from tests.observe.reading import ROOT
from tests.observe.twins import Twins

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.source.accumulated import never_reset  # noqa: E402
from dlcheck_shim.source.trees import looked_through, tree_of  # noqa: E402

LOOP = """
for epoch in range(3):
    for x, y in train:
        F.cross_entropy(model(x), y).backward()  # trains
    model.eval()
    for x, y in test:
        correct += (model(x).argmax(1) == y).sum().item()  # evaluates
        total += len(y)
    print(correct / total)
"""
METER_RESET = """    def reset(self):
        self.sum = self.count = 0
"""
METER = """
class Meter:
    def __init__(self):
        self.reset()
    def reset(self):
        self.sum = self.count = 0
    def update(self, value, count):
        self.sum += value * count
        self.count += count
    def mean(self):
        return self.sum / self.count

def evaluate():
    for x, y in test:
        meter.update(F.cross_entropy(model(x), y).item(), len(y))  # evaluates
    return meter.mean()
"""


def names(source):
    source = textwrap.dedent(source)
    lines = {word: {number for number, line in enumerate(source.splitlines(), 1) if f"# {word}" in line}
             for word in ("evaluates", "trains")}  # fmt: skip
    return [(name, line) for name, line, _ in never_reset(tree_of(source.encode()), lines["evaluates"], lines["trains"])]


class Depth(unittest.TestCase):
    def test_an_expression_that_is_too_deep_to_print_is_passed_over(self):
        source = "correct, total = 0, 0" + LOOP.replace("len(y)", "count(-" + "-" * 800 + "1)")
        given = (tree_of(source.encode()), {8}, {5})
        self.assertRaises(RecursionError, never_reset, *given)
        self.assertEqual(looked_through(never_reset, *given), [])


class Variables(unittest.TestCase):
    def test_one_that_is_set_before_the_epochs_is_found_with_the_line_that_set_it(self):
        self.assertEqual(names("correct, total = 0, 0" + LOOP), [("correct", 1)])

    def test_one_that_is_set_in_each_epoch_is_none(self):
        self.assertEqual(names("correct = total = 0" + LOOP.replace("    model.eval()\n", "    model.eval()\n    correct = total = 0\n")), [])

    def test_a_count_of_all_samples_per_second_or_in_thousands_is_meant(self):
        for divisor in ("(time.time() - start)", "elapsed_time", "1000", "1e6"):
            with self.subTest(divisor):
                self.assertEqual(names("correct = total = 0" + LOOP.replace("correct / total", f"correct / {divisor}")), [])
        self.assertEqual(names("correct = total = 0" + LOOP.replace("correct / total", "correct / 10000")), [("correct", 1)])

    def test_one_that_is_only_read_after_all_epochs_may_be_over_all_of_them(self):
        self.assertEqual(names("correct = total = 0" + LOOP.replace("    print(correct", "print(correct")), [])

    def test_a_loop_that_trains_on_what_it_evaluates_is_none(self):
        source = """
            correct = total = 0
            for epoch in range(3):
                for x, y in stream:
                    correct += (model(x).argmax(1) == y).sum().item()  # evaluates
                    F.cross_entropy(model(x), y).backward()  # trains
                    total += len(y)
                print(correct / total)
        """
        self.assertEqual(names(source), [])

    def test_a_list_of_which_a_mean_is_taken_is_found(self):
        source = """
            losses = []
            while step < 100:
                train()  # trains
                for x, y in test:
                    losses.append(evaluate(x, y).item())  # evaluates
                print(sum(losses) / len(losses))
        """
        self.assertEqual(names(source), [("losses", 2)])
        self.assertEqual(names(source.replace("losses = []", "losses = deque(maxlen=64)")), [])
        for emptied in ("losses[:] = []", "losses.clear()", "del losses[:]"):
            with self.subTest(emptied):
                self.assertEqual(names(source.replace("train()  # trains", f"train(); {emptied}  # trains")), [])

    def test_a_history_of_epochs_is_none(self):
        source = """
            history = []
            for epoch in range(3):
                train()  # trains
                correct = 0
                for x, y in test:
                    correct += evaluate(x, y).item()  # evaluates
                history.append(correct / len(test))
                print(sum(history) / len(history))
        """
        self.assertEqual(names(source), [])

    def test_a_variable_of_the_function_that_evaluates_is_none(self):
        source = """
            def evaluate():
                correct = 0
                for x, y in test:
                    correct += (model(x).argmax(1) == y).sum().item()  # evaluates
                return correct / len(test)
        """
        self.assertEqual(names(source), [])

    def test_one_of_the_module_is_found_in_the_function_that_evaluates(self):
        source = """
            correct = 0
            def evaluate():
                global correct
                for x, y in test:
                    correct += (model(x).argmax(1) == y).sum().item()  # evaluates
                return correct / len(test)
        """
        self.assertEqual(names(source), [("correct", 2)])
        self.assertEqual(names(textwrap.dedent(source) + "def begin():\n    global correct\n    correct = 0\n"), [])


ATTRIBUTE = """
    class Trainer:
        def __init__(self):
            self.hits = 0
        def validate(self):
            for x, y in self.check:
                self.hits += (self.net(x).argmax(1) == y).sum().item()  # evaluates
            return self.hits / len(self.check)
        def fit(self):
            for epoch in range(3):
                self.train()  # trains
                self.validate()
    def main():
        Trainer().fit()
"""


class Attributes(unittest.TestCase):
    def test_one_that_only_the_constructor_sets_is_found(self):
        self.assertEqual(names(ATTRIBUTE), [("self.hits", 4)])

    def test_one_that_a_method_sets_is_none(self):
        self.assertEqual(names(ATTRIBUTE.replace("self.train()  # trains", "self.hits = 0; self.train()  # trains")), [])

    def test_one_of_an_object_that_is_made_for_each_evaluation_is_none(self):
        source = ATTRIBUTE.replace("Trainer().fit()", "for fold in range(5):\n            Trainer().fit()")
        self.assertEqual(names(source), [])

    def test_an_entry_of_a_dictionary_that_is_made_again_is_none(self):
        source = """
            stats = {"hits": 0}
            for epoch in range(3):
                train()  # trains
                stats = {"hits": 0}
                for x, y in test:
                    stats["hits"] += evaluate(x, y).item()  # evaluates
                print(stats["hits"] / len(test))
        """
        self.assertEqual(names(source), [])
        self.assertEqual(names(source.replace("    stats = {\"hits\": 0}\n" + " " * 16 + "for x", "    for x")), [("stats['hits']", 2)])


class Meters(unittest.TestCase):
    def test_one_that_is_never_reset_is_found_with_the_line_that_made_it(self):
        self.assertEqual(names(METER + "meter = Meter()\n"), [("meter", 17)])

    def test_one_that_is_reset_is_none(self):
        self.assertEqual(names(METER + "meter = Meter()\nmeter.reset()\n"), [])

    def test_one_that_each_evaluation_makes_is_none(self):
        self.assertEqual(names(METER.replace("def evaluate():\n", "def evaluate():\n    meter = Meter()\n")), [])

    def test_one_without_a_way_to_reset_it_is_meant_for_the_whole_run(self):
        self.assertEqual(names(METER.replace("self.reset()", "self.sum = self.count = 0").replace(METER_RESET, "") + "meter = Meter()\n"), [])

    def test_one_of_torchmetrics_is_found(self):
        source = """
            from torchmetrics import Accuracy
            accuracy = Accuracy(task="multiclass", num_classes=4)
            for epoch in range(3):
                train()  # trains
                for x, y in test:
                    accuracy.update(model(x), y)  # evaluates
                print(accuracy.compute())
        """
        self.assertEqual(names(source), [("accuracy", 3)])
        self.assertEqual(names(textwrap.dedent(source) + "    accuracy.reset()\n"), [])


PARTS = {"BEFORE": ("correct = total = 0", "pass"), "WITHIN": ("pass", "correct = total = 0")}
PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn.functional as F
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(40, 4)
    labels = (data[:, 0] > 0).long()
    BEFORE
    for epoch in range(3):
        for rows in range(0, 32, 8):
            optimizer.zero_grad()
            F.cross_entropy(model(data[rows : rows + 8]), labels[rows : rows + 8]).backward()
            optimizer.step()
        WITHIN
        with torch.no_grad():
            for rows in (32, 36):
                correct += (model(data[rows : rows + 4]).argmax(1) == labels[rows : rows + 4]).sum().item()
                total += 4
        print(correct / total)
    """
)


class Watched(Twins, unittest.TestCase):
    PROGRAM, PARTS = PROGRAM, PARTS
    QUANTITIES = ("unreset_metric",)

    def test_it_has_the_number_of_evaluations(self):
        self.assertEqual(self.told("unreset_metric"), [(3, 0)])


if __name__ == "__main__":
    unittest.main()
