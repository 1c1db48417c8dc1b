"""Parts of the probe tell each other of moments: in one order, and with no torch program around them."""

import re
import sys
import types
import unittest

from tests.observe.reading import ROOT

PYTHON = ROOT / "checks/observe/python"
sys.path.insert(0, str(PYTHON))
from dlcheck_shim.distributed.saved_shards import SavedShards  # noqa: E402
from dlcheck_shim.hooks.reseeding import Reseeding  # noqa: E402
from dlcheck_shim.moments import Moment, Moments  # noqa: E402
from dlcheck_shim.torch_api.guard import Guard  # noqa: E402


def guard():
    return Guard(print, print)


class Order(unittest.TestCase):
    def test_functions_are_called_in_the_order_in_which_they_were_added(self):
        moment, heard = Moment(), []
        moment.append(lambda *given: heard.append(("first", *given)))
        moment.append(lambda *given: heard.append(("second", *given)))
        moment(1, 2)
        self.assertEqual(heard, [("first", 1, 2), ("second", 1, 2)])

    def test_each_is_met_by_a_part_and_heard_by_one(self):
        text = "".join(path.read_text() for path in PYTHON.glob("dlcheck_shim/**/*.py"))
        for name in vars(Moments()):
            with self.subTest(name):
                self.assertRegex(text, rf"moments\.{name}\(")
                self.assertRegex(text, rf"moments\.{name}(\.append\(|\.insert\(| \+=)")

    def test_no_part_names_one_that_is_not_there(self):
        for path in PYTHON.glob("dlcheck_shim/**/*.py"):
            for name in re.findall(r"\bmoments\.(\w+)(?:\(|\.append|\.insert| \+=)", path.read_text()):
                with self.subTest(path=path.name, name=name):
                    self.assertIn(name, vars(Moments()))


class Parts(unittest.TestCase):
    def recorder(self, **more):
        self.written = []
        return types.SimpleNamespace(
            moments=Moments(), thing=lambda *name: name, attribute=lambda *row: self.written.append(row),
            quantity=lambda name, *row, **owner: self.written.append((name, *row)), **more)  # fmt: skip

    def test_a_step_after_the_same_seed_says_what_was_drawn(self):
        import torch

        recorder = self.recorder()
        part = Reseeding(guard(), recorder, types.SimpleNamespace(current=lambda always: 7))
        part.subscribe(recorder.moments)
        torch.manual_seed(3)
        recorder.moments.seeded(3)
        torch.rand(1)
        recorder.moments.gradients_used(None, types.SimpleNamespace(thing=5))
        self.assertEqual([(row[0], *row[4:]) for row in self.written], [("drawn_state", 7, 5)])

    def test_nothing_was_drawn_and_nothing_is_said(self):
        import torch

        recorder = self.recorder()
        Reseeding(guard(), recorder, types.SimpleNamespace(current=lambda always: 7)).subscribe(recorder.moments)
        torch.manual_seed(3)
        recorder.moments.seeded(3)
        recorder.moments.gradients_used(None, types.SimpleNamespace(thing=5))
        self.assertEqual(self.written, [])

    def test_a_file_of_one_process_has_no_shards(self):
        recorder = self.recorder()
        groups = types.SimpleNamespace(size=lambda: 1)
        SavedShards(guard(), recorder, groups).subscribe(recorder.moments)
        recorder.moments.saved("model.pt", {})
        self.assertEqual(self.written, [])


if __name__ == "__main__":
    unittest.main()
