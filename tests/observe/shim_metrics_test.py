"""Numbers that a program logs itself are recorded under its names."""

import pathlib
import tempfile
import textwrap
import unittest

from tests.observe.reading import SHIM, python, run_unwatched, run_watched

# Loggers of the program's own making under the names of packages, with the signatures of the real ones.
PACKAGES = {
    "tensorboardX.writer": """
        class SummaryWriter:
            kept = []
            def add_scalar(self, tag, scalar_value, global_step=None):
                self.kept.append((tag, scalar_value, global_step))
                return len(self.kept)""",
    "wandb.sdk.wandb_run": """
        class Run:
            def log(self, data, step=None, commit=None):
                return len(data)""",
    "transformers.trainer": """
        from wandb.sdk.wandb_run import Run
        class Trainer:
            def log(self, logs, start_time=None):
                return Run().log({"rewritten/" + name: value for name, value in logs.items()})""",
    "accelerate.accelerator": """
        class Accelerator:
            def log(self, values, step=None, log_kwargs=None):
                raise KeyError("no tracker")""",
    "lightning.pytorch.core.module": """
        class LightningModule:
            def log(self, name, value, prog_bar=False):
                pass
            def log_dict(self, dictionary):
                for name, value in dictionary.items():
                    self.log(name, value)""",
    "mlflow.entities.metric": """
        class Metric:
            def __init__(self, key, value, timestamp, step):
                self.key, self.value = key, value""",
    "mlflow.tracking.client": """
        class MlflowClient:
            def log_metric(self, run_id, key, value):
                pass
            def log_batch(self, run_id, metrics=(), params=(), tags=()):
                pass""",
}
PROGRAM = textwrap.dedent(
    """
    import sys
    sys.path[:0] = [{place!r}, {shim!r}]
    import torch, dlcheck
    from tensorboardX.writer import SummaryWriter
    from transformers.trainer import Trainer
    from accelerate.accelerator import Accelerator
    from lightning.pytorch.core.module import LightningModule
    from mlflow.entities.metric import Metric
    from wandb.sdk.wandb_run import Run
    from mlflow.tracking.client import MlflowClient
    class Odd:
        def __float__(self):
            raise RuntimeError("asked")
    class OddDict(dict):
        def items(self):
            raise RuntimeError("asked")
    writer = SummaryWriter()
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 3)).square().mean()
        loss.backward()
        optimizer.step()
        returned = writer.add_scalar("train/loss", loss, step)
        writer.add_scalar(tag="odd", scalar_value=Odd())
        print(Trainer().log({{"of trainer": 1.0 + step, "huge": 10**400, "text": "1"}}))
        try:
            Accelerator().log({{"untaken": 2.0}})
        except KeyError as error:
            print(error)
        LightningModule().log_dict({{"of module": torch.tensor(3.0), "whole": 3}})
        MlflowClient().log_metric("id", "of client", 4.0)
        MlflowClient().log_batch("id", metrics=[Metric("of batch", 5.0, 0, step), Odd()])
        Run().log(OddDict())
        dlcheck.log("accuracy", 0.5 + step)
        dlcheck.log(7, 1.0)
    print(returned, len(writer.kept))
    """
)


def write_packages(place):
    for name, source in PACKAGES.items():
        *folders, module = name.split(".")
        folder = pathlib.Path(place, *folders)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{module}.py").write_text(textwrap.dedent(source))


def runs():
    """The program alone, and watched."""
    with tempfile.TemporaryDirectory() as place:
        write_packages(place)
        program = python("-c", PROGRAM.format(place=place, shim=str(SHIM)))
        return run_unwatched(program), run_watched(program)


class ShimMetrics(unittest.TestCase):
    def test_they_are_recorded_and_the_program_is_left_alone(self):
        alone, watched = runs()
        self.assertEqual((watched.status, watched.out), (0, alone.out), watched.err)
        rows = watched.main.of("quantity", "metric")
        given = {name: [row.value for row in rows if row.thing[2] == name] for name in {row.thing[2] for row in rows}}
        self.assertEqual(len(given.pop("train/loss")), 3)
        self.assertEqual(given, {"accuracy": [0.5, 1.5, 2.5], "of trainer": [1.0, 2.0, 3.0], "of module": [3.0] * 3,
                                 "whole": [3.0] * 3, "of client": [4.0] * 3, "of batch": [5.0] * 3})  # fmt: skip
        self.assertEqual([row.step for row in rows if row.thing[2] == "train/loss"], [1, 2, 3])
        self.assertNotIn("hook_failed/metric", watched.main.process)

    def test_a_program_that_logs_and_trains_nothing_leaves_no_records(self):
        source = f"import sys; sys.path.insert(0, {str(SHIM)!r}); import torch, dlcheck; dlcheck.log('a', 1.0)"
        run = run_watched(python("-c", source))
        self.assertEqual((run.status, run.traces), (0, []), run.err)


if __name__ == "__main__":
    unittest.main()
