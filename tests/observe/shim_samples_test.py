"""Samples of the data are kept where they are asked for, and only there; the program stays as it is."""

import json
import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

PROGRAM = textwrap.dedent(
    """
    import hashlib, sys, torch
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Dropout(0.2), torch.nn.Flatten())
            self.head = torch.nn.Linear(4 * 98 * 98, 3)
        def forward(self, pictures):
            return {"logits": self.head(self.body(pictures))}
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    pictures, kinds = torch.randn(12, 1, 100, 100), torch.arange(12) % 3
    for epoch in range(3):
        for step, (x, y) in enumerate(DataLoader(TensorDataset(pictures, kinds), 4)):
            optimizer.zero_grad()
            scale = float("nan") if epoch == 2 and step == 1 and "broken" in sys.argv else 1.0
            loss = torch.nn.functional.cross_entropy(model(x)["logits"] * scale, y)
            loss.backward()
            optimizer.step()
    weights = b"".join(bytes(p.detach().flatten().view(torch.uint8).tolist()) for p in model.parameters())
    print(hashlib.sha256(weights).hexdigest(), torch.rand(1).item(), len(torch.get_rng_state()))
    """
)


def kept(run):
    return [json.loads(line) for line in run.samples]


class ShimSamples(unittest.TestCase):
    def test_the_first_rows_are_kept_and_the_program_is_left_alone(self):
        program = python("-c", PROGRAM)
        alone, watched = run_unwatched(program), run_watched(program, samples=2)
        self.assertEqual((watched.status, watched.out), (0, alone.out), watched.err)
        self.assertNotIn("hook_failed/samples", watched.main.process)
        first = {row["role"]: row for row in kept(watched) if row["moment"] == "first step"}
        self.assertEqual(set(first), {"input", "output", "target"})
        self.assertEqual((first["input"]["kind"], first["input"]["shape"], first["input"]["size"]),
                         ("picture", [4, 1, 100, 100], [1, 34, 34]))  # fmt: skip
        self.assertEqual([len(row["rows"]) for row in first.values()], [2, 2, 2])
        self.assertEqual(first["target"]["rows"], [[0], [1]])
        self.assertEqual(len(first["output"]["rows"][0]), 3)
        moments = [(row["moment"], row["step"]) for row in kept(watched) if row["role"] == "input"]
        self.assertEqual(moments, [("first step", 0), ("pass 2 begins", 3), ("pass 3 begins", 6)])

    def test_the_batch_of_the_first_loss_that_is_not_finite_is_kept(self):
        watched = run_watched(python("-c", PROGRAM, "broken"), samples=1)
        rows = [row for row in kept(watched) if row["moment"] == "first loss that is not finite"]
        self.assertEqual({(row["role"], row["step"]) for row in rows}, {("input", 7), ("output", 7), ("target", 7)})

    def test_a_batch_that_stays_the_same_is_predicted_as_the_model_trains(self):
        watched = run_watched(python("-c", PROGRAM), samples=2, experiment="trials", steps=9)
        rows = [row for row in kept(watched) if row["role"] == "output"]
        self.assertEqual([row["step"] for row in rows], [1, 3, 7])
        self.assertEqual(len({str(row["rows"]) for row in rows}), 3)
        self.assertEqual(sum(row["role"] == "input" for row in kept(watched)), 1)

    def test_nothing_is_kept_unasked(self):
        self.assertEqual(run_watched(python("-c", PROGRAM)).samples, ())


if __name__ == "__main__":
    unittest.main()
