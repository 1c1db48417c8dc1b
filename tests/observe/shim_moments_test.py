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
from dlcheck_shim.record.recorder import MOST_MICRO_STEPS, Recorder  # noqa: E402
from dlcheck_shim.record.sampling import is_detailed, is_sampled  # noqa: E402
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


class Clock(unittest.TestCase):
    """Steps of which much is recorded, and those beside them."""

    def recorder(self):
        recorder = Recorder(types.SimpleNamespace(whole=()), {})
        self.addCleanup(setattr, recorder, "asleep", True)
        return recorder

    def test_a_step_is_near_a_sampled_one_if_it_or_the_next_is_sampled(self):
        recorder = self.recorder()
        for step in range(600):
            recorder.end_step()
            with self.subTest(step):
                self.assertEqual(recorder.near_sampled, is_sampled(step) or is_sampled(step + 1))

    def test_a_step_with_too_many_backward_calls_ends_as_the_sampled_one_that_it_began_as(self):
        recorder = self.recorder()
        for _ in range(100):
            recorder.end_step()
        while not recorder.sampled:
            recorder.end_step()
        while is_sampled(recorder.step + 1):
            recorder.end_step()
        for _ in range(MOST_MICRO_STEPS):
            recorder.end_backward()
        self.assertFalse(recorder.sampled)
        recorder.end_step()
        self.assertTrue(recorder.near_sampled)
        recorder.end_step()
        self.assertFalse(recorder.near_sampled)

    def test_data_and_targets_are_compared_in_the_first_steps_and_in_detailed_ones(self):
        recorder, compared = self.recorder(), []
        recorder.moments.loss_compared.append(lambda call: compared.append(recorder.step))
        recorder.moments.batch_compared.append(lambda inputs: compared.append(recorder.step))
        for _ in range(600):
            if recorder.sampled:
                recorder.batch_enters(())
                recorder.loss_examined(None)
            recorder.end_step()
        wanted = [step for step in range(600) if step < 64 or is_sampled(step) and is_detailed(step)]
        self.assertEqual(compared, [step for step in wanted for _ in range(2)])


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
