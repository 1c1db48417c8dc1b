"""Curves fitted under Lightning, stopped and resumed from a checkpoint, then tested.

Four micro-batches a step, bf16, an average of the weights, a rate that falls on plateaus, one loader with
workers, and the sanity check before training.
"""

import sys
import tempfile

import lightning
import torch
import torch.nn.functional as F
from gates import Gate
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
lightning.seed_everything(seed)


class Noisy(TensorDataset):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x + 0.01 * torch.randn(2), y


def points(count, kind=TensorDataset):
    x = 4 * torch.rand(count, 2) - 2
    return kind(x, (x[:, :1] * x[:, 1:]).sin())


class Curves(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 64), Gate(), nn.Linear(64, 64), Gate(),
                                  nn.Dropout(0.02), nn.Linear(64, 1))  # fmt: skip

    def forward(self, x):
        return self.body(x)

    def training_step(self, batch, _):
        x, y = batch
        return F.mse_loss(self(x), y)

    def validation_step(self, batch, _):
        x, y = batch
        self.log("error", F.mse_loss(self(x), y))

    test_step = validation_step

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        rate = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": rate, "monitor": "error"}}


class Averaged(Callback):
    def on_fit_start(self, trainer, model):
        self.average = torch.optim.swa_utils.AveragedModel(
            model.body, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.98))

    def on_train_batch_end(self, trainer, model, outputs, batch, batch_idx):
        if (batch_idx + 1) % trainer.accumulate_grad_batches == 0:
            self.average.update_parameters(model.body)


folder = tempfile.mkdtemp()
train = DataLoader(points(3200, Noisy), batch_size=16, shuffle=True, num_workers=2,
                   persistent_workers=True)
held = DataLoader(points(400), batch_size=100)


def trainer(epochs):
    return lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        devices=1,
        accumulate_grad_batches=4,
        gradient_clip_val=2.0,
        precision="bf16-mixed",
        logger=False,
        callbacks=[ModelCheckpoint(folder, save_last=True), Averaged()],
        enable_progress_bar=False,
        enable_model_summary=False,
    )


trainer(2).fit(Curves(), train, held)
model, second = Curves(), trainer(8)
second.fit(model, train, held, ckpt_path=f"{folder}/last.ckpt")
error = second.test(model, DataLoader(points(400), batch_size=100), verbose=False)[0]["error"]
print(error)
assert error < 0.05, error
