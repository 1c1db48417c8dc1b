"""Noisy patterns told apart by a LightningModule with validation, checkpoints and a scheduler."""

import sys
import tempfile

import lightning
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import Callback, LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
lightning.seed_everything(seed)
patterns = torch.randn(10, 1, 8, 8)


def samples(count):
    kinds = torch.randint(10, (count,))
    return TensorDataset(patterns[kinds] + 1.5 * torch.randn(count, 1, 8, 8), kinds)


def groups(model):
    """Biases and norms are not decayed."""
    weights = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() < 2]
    return [{"params": weights, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}]


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                                  nn.Flatten(), nn.Dropout(0.2), nn.Linear(1024, 10))  # fmt: skip

    def forward(self, images):
        return self.body(images)

    def training_step(self, batch, _):
        images, kinds = batch
        loss = F.cross_entropy(self(images), kinds)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        images, kinds = batch
        outputs = self(images)
        self.log("accuracy", (outputs.argmax(1) == kinds).float().mean(), prog_bar=False)
        self.log("validation_loss", F.cross_entropy(outputs, kinds))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(groups(self), lr=3e-3)
        steps = self.trainer.estimated_stepping_batches
        rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": rate, "interval": "step"}}


class Frozen(Callback):
    """The convolution keeps what it has learned in the last epochs."""

    def on_train_epoch_start(self, trainer, model):
        if trainer.current_epoch == 4:
            model.body[0].requires_grad_(False)


folder = tempfile.mkdtemp()
trainer = lightning.Trainer(
    max_epochs=6,
    accelerator="cpu",
    devices=1,
    gradient_clip_val=1.0,
    logger=CSVLogger(folder),
    callbacks=[ModelCheckpoint(folder, monitor="accuracy", mode="max"), LearningRateMonitor(), Frozen()],
    enable_progress_bar=False,
    enable_model_summary=False,
    log_every_n_steps=20,
)
model, held = Classifier(), DataLoader(samples(400), batch_size=100)
trainer.fit(model, DataLoader(samples(3200), batch_size=64, shuffle=True), held)
trainer.validate(model, held)
final = float(trainer.callback_metrics["accuracy"])
print(final)
assert final > 0.9, final
