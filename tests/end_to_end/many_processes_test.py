"""Runs of many processes: the records of 64 from a generator are judged together, four real ones are
watched at once, and one that is killed takes nothing from the others."""

import json
import sys
import textwrap
import time
import unittest

from support import SOURCE, TORCH_PYTHON, EndToEnd

sys.path.insert(0, str(SOURCE / "checks/observe/python"))
from dlcheck_shim.record.names import EVENTS, QUANTITIES  # noqa: E402
from dlcheck_shim.record.writer import EVENT, QUANTITY, TraceWriter  # noqa: E402

RANKS, STEPS = 64, 200

LOOP = textwrap.dedent(
    """
    import os, signal, sys, torch, torch.multiprocessing

    def train(rank, killed):
        torch.manual_seed(rank)
        model = torch.nn.Linear(6, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(60):
            if not killed or rank != 1:
                optimizer.zero_grad()
            model(torch.randn(8, 6)).square().mean().backward()
            optimizer.step()
            if killed and rank == 1 and step == 40:
                os.kill(os.getpid(), signal.SIGKILL)

    if __name__ == "__main__":
        killed = sys.argv[1:] == ["killed"]
        context = torch.multiprocessing.spawn(train, (killed,), nprocs=4, join=False)
        for process in context.processes:
            process.join()
    """
)


def write_rank(folder, rank, nonfinite_at):
    """One process that trains a layer of two parameters; its loss is NaN at one step."""
    writer = TraceWriter(str(folder), process=1000 + rank, rank=rank)
    loss, optimizer = writer.thing("loss", 0, "mse_loss"), writer.thing("optimizer", 0, "")
    parameter = writer.thing("parameter", 0, "weight")
    for step in range(STEPS):
        value = float("nan") if step == nonfinite_at else 1.0 / (step + 1)
        writer.put(QUANTITY, QUANTITIES["loss"], step, 0, loss, 0, 0, value, 8.0)
        writer.put(EVENT, EVENTS["backward"], step, 0, loss, 0, 0, 0.0, 0.0)
        writer.put(QUANTITY, QUANTITIES["gradient_norm"], step, 1, parameter, 0, optimizer, 0.5, 0.0)
        writer.put(EVENT, EVENTS["step"], step, 1, optimizer, 0, optimizer, 0.0, 0.0)
    writer.close()


class ManyProcesses(EndToEnd):
    def write_run(self, nonfinite_at):
        run = self.out / "runs/00-plain-0"
        run.mkdir(parents=True)
        (self.out / ".dlcheck").write_text("dlcheck\t1\n")
        (run / "request").write_text(f"run_folder\t{run}\nexperiment\tplain\nrepetition\t0\n")
        for rank in range(RANKS):
            write_rank(run, rank, nonfinite_at if rank == 37 else -1)

    def outcome(self, check):
        # By hand there is no word of how the run ended.
        process = self.dlcheck("judge", "--partial", "--report", f"json={self.folder}/result.json", self.out)
        self.assertIn(process.returncode, (0, 1), process.stderr)
        checks = json.loads((self.folder / "result.json").read_text())["checks"]
        return next(c for c in checks if c["id"] == check)

    def test_64_processes_are_judged_together_and_in_seconds(self):
        self.write_run(nonfinite_at=150)
        begin = time.monotonic()
        found = self.outcome("numerics/nonfinite_values")
        self.assertEqual((found["outcome"], found["findings"][0]["first_step"]), ("failed", 150))
        self.assertLess(time.monotonic() - begin, 20)

    def test_64_healthy_processes_have_no_finding(self):
        self.write_run(nonfinite_at=-1)
        self.assertEqual(self.outcome("numerics/nonfinite_values")["outcome"], "passed")

    def test_four_real_processes_are_watched(self):
        self.require_torch()
        (self.folder / "loop.py").write_text(LOOP)
        process = self.run_command(TORCH_PYTHON, "loop.py", "--fail-on", "warning")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(len(list(self.out.glob("runs/*/records/*.records"))), 4)

    def test_one_that_is_killed_takes_nothing_from_the_others(self):
        self.require_torch()
        (self.folder / "loop.py").write_text(LOOP)
        process = self.run_command(TORCH_PYTHON, "loop.py", "killed")
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertEqual(len(list(self.out.glob("runs/*/records/*.records"))), 4)
        self.assertEqual([c["id"] for c in self.result()["order"]], ["optimizer/stale_gradients"])


if __name__ == "__main__":
    unittest.main()
