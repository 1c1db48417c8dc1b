"""The gradient of two processes is compared with what one makes of both their batches."""

import json
import subprocess
import textwrap
import unittest

from support import DLCHECK, TORCH_PYTHON, EndToEnd, drawn_tests

CHECK = "distributed/mismatched_gradient"
PROGRAM = textwrap.dedent(
    """
    import torch, torch.distributed as dist
    import torch.distributed.fsdp
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, TensorDataset
    from torch.utils.data.distributed import DistributedSampler

    class Centered(nn.Module):
        def forward(self, x):
            return x - 0.1 * x.mean(0)

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    x = torch.randn(400, 12)
    data = TensorDataset(x, x[:, :4].argmax(1))
    plain = nn.Sequential(nn.Linear(12, 32), NORM, nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 4))
    model = WRAPPED
    torch.manual_seed(rank)
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
    sampler = DistributedSampler(data, shuffle=True)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for given, kind in DataLoader(data, batch_size=20, sampler=sampler):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(given), kind)
            LOSS.backward()
            REDUCED
            optimizer.step()
    dist.destroy_process_group()
    """
)
WRAPPED = "DistributedDataParallel(plain)"
BY_HAND = "for p in plain.parameters(): dist.all_reduce(p.grad)"


@drawn_tests(6)
class Ranks(EndToEnd):
    def judged(self, norm="nn.Identity()", wrapped=WRAPPED, loss="loss", reduced="pass", processes=2,
               name=CHECK):  # fmt: skip
        """The outcome of a check, and its findings, on the program with these parts."""
        source = PROGRAM.replace("NORM", norm).replace("WRAPPED", wrapped)
        (self.folder / "train.py").write_text(source.replace("LOSS", loss).replace("REDUCED", reduced))
        process = subprocess.run(
            [DLCHECK, "run", "--deep", "--select", name, "--output-dir", self.folder / "out", "--",
             TORCH_PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
             str(processes), "train.py"],
            cwd=self.folder, capture_output=True, text=True, check=False)  # fmt: skip
        result = json.loads((self.folder / "out" / "result.json").read_text())
        check = next(check for check in result["checks"] if check["id"] == name)
        return check, process.stdout + process.stderr

    def test_two_processes_that_average_are_one_on_both_batches(self):
        check, said = self.judged()
        self.assertEqual((check["outcome"], check["findings"]), ("passed", []), said)

    def test_a_gradient_by_the_number_of_processes_too_long_or_too_short_is_told(self):
        cases = (({"loss": "(loss * world)"}, 2), ({"loss": "(loss / world)"}, 0.5),
                 ({"wrapped": "plain", "reduced": BY_HAND}, 2))  # fmt: skip
        for parts, ratio in cases:
            with self.subTest(ratio=ratio, parts=parts):
                check, said = self.judged(**parts)
                self.assertEqual([f["severity"] for f in check["findings"]], ["warning"], said)
                self.assertIn(f"{ratio} times", check["findings"][0]["message"])

    def test_gradients_that_are_never_put_together_are_told(self):
        check, said = self.judged(wrapped="DistributedDataParallel(plain).module")
        self.assertEqual([f["severity"] for f in check["findings"]], ["note"], said)
        self.assertIn("2 different gradients", check["findings"][0]["message"])

    def test_trials_of_what_trains_in_two_processes_are_made_in_one(self):
        for wrapped in (WRAPPED, "torch.distributed.fsdp.fully_shard(plain)"):
            for norm, faulty in (("nn.LayerNorm(32)", False), ("Centered()", True)):
                with self.subTest(wrapped=wrapped, norm=norm):
                    check, said = self.judged(norm=norm, wrapped=wrapped, name="model/cross_sample_leak")
                    self.assertEqual(check["outcome"], "failed" if faulty else "passed", said)

    def test_held_batches_of_what_trains_in_two_processes_are_those_of_one(self):
        check, said = self.judged(name="data/order_dependence")
        self.assertEqual((check["outcome"], check["findings"]), ("passed", []), said)

    def test_what_cannot_be_compared_says_why(self):
        check, said = self.judged(norm="nn.BatchNorm1d(32)")
        self.assertEqual(check["outcome"], "not_applicable", said)
        self.assertIn("normalizes over the batch", check["reason"])
        check, said = self.judged(processes=1)
        self.assertEqual(check["outcome"], "not_applicable", said)
        self.assertIn("one process", check["reason"])


if __name__ == "__main__":
    unittest.main()
