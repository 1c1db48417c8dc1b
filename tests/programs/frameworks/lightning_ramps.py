"""Ramps told apart by their positions under Lightning."""

import sys
import tempfile

import lightning
import torch
from ramps import Decoder, Ramps, loss_of, right
from torch.utils.data import DataLoader

lightning.seed_everything(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Task(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.decoder = Decoder()

    def training_step(self, batch, _):
        labels = batch.pop("labels")
        return loss_of(self.decoder(**batch), labels)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=6e-3, weight_decay=0.01)
        rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.trainer.estimated_stepping_batches)
        return [optimizer], [{"scheduler": rate, "interval": "step"}]


task = Task()
trainer = lightning.Trainer(max_epochs=6, accelerator="cpu", devices=1, logger=False, gradient_clip_val=1.0,
                            enable_checkpointing=False, default_root_dir=tempfile.mkdtemp(),
                            enable_progress_bar=False, enable_model_summary=False)  # fmt: skip
trainer.fit(task, DataLoader(Ramps(1600, 1), batch_size=32, shuffle=True, drop_last=True))
score = right(task.decoder, DataLoader(Ramps(160, 2), batch_size=40))
print(score)
assert score > 0.7, score
