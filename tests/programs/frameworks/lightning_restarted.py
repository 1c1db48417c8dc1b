"""Waves fitted under Lightning, which goes on from its last checkpoint when it is started again."""

import os
import sys

import lightning
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DataLoader
from waves import Net, error, waves

lightning.seed_everything(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Task(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def training_step(self, batch, _):
        points, heights = batch
        return F.mse_loss(self.net(points), heights)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)]


task = Task()
trainer = lightning.Trainer(
    max_epochs=8, accelerator="cpu", devices=1, logger=False, enable_progress_bar=False,
    enable_model_summary=False, callbacks=[ModelCheckpoint("checkpoints", save_last=True)],
)  # fmt: skip
last = "checkpoints/last.ckpt"
trainer.fit(task, DataLoader(waves(1600, 1), batch_size=32, shuffle=True),
            ckpt_path=last if os.path.exists(last) else None)  # fmt: skip
print(error(task.net))
assert error(task.net) < 0.1, error(task.net)
