"""Writes the logs in this folder with the real tools: `python make_logs.py NAME ...`, in an environment that has
them (README.md names the versions)."""

import math
import os
import pathlib
import shutil
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def falling(step):
    return 2.3 * math.exp(-step / 20)


def tensorboard(folder):
    """Scalars as numbers, of tensorboardX; the loss jumps at step 50."""
    from tensorboardX import SummaryWriter

    with SummaryWriter(folder) as writer:
        for step in range(70):
            writer.add_scalar("train/loss", falling(step) if step < 50 else 40.0, step)
            writer.add_scalar("lr", 1e-3, step)


def tensorboard_tensors(folder):
    """Scalars as tensors, as TensorFlow 2 writes them."""
    from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2
    from tensorboard.plugins.scalar import metadata
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder))
    for step in range(30):
        tensor = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, tensor_content=struct.pack("<f", falling(step)))
        about = metadata.create_summary_metadata(display_name="", description="")
        value = summary_pb2.Summary.Value(tag="loss", tensor=tensor, metadata=about)
        writer.add_event(event_pb2.Event(step=step, summary=summary_pb2.Summary(value=[value])))
    writer.close()


def wandb(folder):
    import wandb as library

    settings = library.Settings(mode="offline", silent=True, x_disable_meta=True, x_disable_stats=True,
                                console="off", disable_git=True, save_code=False)  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        run = library.init(project="example", dir=place, settings=settings)
        for step in range(40):
            run.log({"loss": falling(step), "nested": {"accuracy": step / 40}, "bad": float("nan")})
        run.finish()
        shutil.copy(next(pathlib.Path(place).rglob("*.wandb")), folder / "run.wandb")


def mlflow(folder):
    """A run in the file store; the second metric has a folder of its own."""
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    import mlflow as library

    with tempfile.TemporaryDirectory() as place:
        store = pathlib.Path(place, "mlruns")
        library.set_tracking_uri(f"file:{store}")
        with library.start_run() as run:
            for step in range(25):
                library.log_metric("loss", falling(step), step=step)
                library.log_metrics({"eval/accuracy": step / 25}, step=step)
        written = store / run.info.experiment_id / run.info.run_id
        shutil.copytree(written / "metrics", folder / "metrics", dirs_exist_ok=True)
        about = (written / "meta.yaml").read_text().replace(str(store), "/mlruns").replace(run.info.user_id, "user")
        (folder / "meta.yaml").write_text(about)


def samples():
    import torch

    torch.manual_seed(0)
    x = torch.randn(64, 8)
    return x, (x.sum(1) > 0).long()


def lightning(folder):
    import lightning
    import torch
    from lightning.pytorch.loggers import CSVLogger
    from torch.utils.data import DataLoader, TensorDataset

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(8, 2)

        def training_step(self, batch, index):
            loss = torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch, index):
            self.log("val_loss", torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    loader = DataLoader(TensorDataset(*samples()), 16)
    with tempfile.TemporaryDirectory() as place:
        trainer = lightning.Trainer(max_epochs=6, logger=CSVLogger(place, name="", version=0), log_every_n_steps=1,
                                    enable_checkpointing=False, enable_progress_bar=False)  # fmt: skip
        trainer.fit(Module(), loader, loader)
        shutil.copy(next(pathlib.Path(place).rglob("metrics.csv")), folder)


def transformers(folder):
    import torch
    from transformers import Trainer, TrainingArguments

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(8, 2)

        def forward(self, x=None, labels=None):
            logits = self.net(x)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    data = [{"x": x, "labels": y} for x, y in zip(*samples())]
    with tempfile.TemporaryDirectory() as place:
        arguments = TrainingArguments(place, max_steps=30, logging_steps=1, eval_strategy="steps", eval_steps=5,
                                      save_steps=30, report_to=[], use_cpu=True)  # fmt: skip
        Trainer(Model(), arguments, train_dataset=data, eval_dataset=data).train()
        shutil.copy(next(pathlib.Path(place).rglob("trainer_state.json")), folder)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        target = HERE / name
        target.mkdir(exist_ok=True)
        globals()[name](target)
        for file in target.glob("events.out.tfevents.*"):  # the rest of its name is a time and a machine
            file.rename(target / "events.out.tfevents.0.host")
