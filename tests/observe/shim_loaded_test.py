"""Experiments on what loaders hand out: labels dealt anew, few batches, one process for several."""

import tempfile
import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn.functional as F
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    x = torch.randn(600, 6)
    data = TensorDataset(x, x[:, :3].argmax(1))
    model = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(8):
        for given, labels in DataLoader(data, batch_size=20, shuffle=True, num_workers=WORKERS):
            GIVEN
            loss = F.cross_entropy(model(given), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
)
DRAWN = "labels = labels[torch.randperm(20)]"


def run_of(given="pass", workers=0, **request):
    source = PROGRAM.replace("GIVEN", given).replace("WORKERS", str(workers))
    return run_watched(python("-c", source), **request)


def compared(given="pass"):
    """The trace of one process that is given what the run in ranks, here one, was given."""
    with tempfile.TemporaryDirectory() as folder:
        run_of(given, experiment="multi_process", steps=1, run_folder=folder)
        return run_of(given, experiment="single_process", steps=1, other_folder=folder).main


def of(run, quantity):
    return [(row.value, row.aux) for row in run.main.of("quantity", quantity)]


class ShimLoaded(unittest.TestCase):
    def test_a_model_that_is_not_told_stays_above_the_floor(self):
        for given, is_told in (("pass", False), ("given[:, 5] = labels.float()", True)):
            run = run_of(given, experiment="shuffled_labels", steps=200, reference_rate=1e-2)
            late = of(run, "shuffled_loss")[-60:]
            self.assertEqual(len(late), 60, run.err)
            share = sum(loss for loss, _ in late) / sum(floor for _, floor in late)
            self.assertEqual(share < 0.8, is_told, share)
            self.assertEqual(share > 0.98, not is_told, share)

    def test_a_batch_that_is_used_again_can_be_learnt_by_heart_and_is_not_judged(self):
        once = "kept = globals().setdefault('kept', (given, labels)); given, labels = kept"
        run = run_of(once, experiment="shuffled_labels", steps=100, reference_rate=1e-2)
        self.assertEqual(of(run, "shuffled_loss"), [], run.err)

    def test_labels_that_no_loader_hands_out_are_not_dealt(self):
        run = run_of("labels = (labels + 1) % 3", experiment="shuffled_labels", steps=20)
        self.assertIn("one per sample", run.main.process["refused"])

    def test_the_same_inputs_come_by_again_with_their_targets(self):
        for workers in (0, 2):
            for given, changed in (("pass", 0.0), (DRAWN, 1.0)):
                run = run_of(given, workers, experiment="limited_data", steps=16)
                found = of(run, "changed_targets")
                self.assertGreater(len(found), 8, run.err)
                self.assertEqual({value for value, _ in found}, {changed})

    def test_a_data_set_may_be_a_mere_list(self):
        source = PROGRAM.replace("TensorDataset(x, x[:, :3].argmax(1))", "list(zip(x, x[:, :3].argmax(1)))")
        source = source.replace("GIVEN", "pass").replace("WORKERS", "0")
        run = run_watched(python("-c", source), experiment="limited_data", steps=16)
        self.assertEqual({value for value, _ in of(run, "changed_targets")}, {0.0}, run.err)

    def test_one_process_on_the_same_batch_has_the_same_gradient(self):
        trace = compared()
        ((ratio, rest),) = [(r.value, r.aux) for r in trace.of("quantity", "ranks_ratio")]
        self.assertAlmostEqual(ratio, 1, places=6)
        self.assertLess(rest, 1e-6)
        self.assertEqual(trace.process["ranks"], "1")

    def test_steps_that_draw_are_not_compared(self):
        self.assertIn("not every process", compared("given = given + torch.randn(6)").process["refused"])


if __name__ == "__main__":
    unittest.main()
