"""A ring of points imitated by a GAN under Lightning's manual optimization, with two optimizers."""

import sys
import tempfile

import lightning
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
lightning.seed_everything(seed)


def mlp(*widths):
    layers = [part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b), nn.LeakyReLU(0.2))]
    return nn.Sequential(*layers[:-1])


class Rings(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.maker, self.judge = mlp(8, 48, 48, 2), mlp(2, 48, 48, 1)

    def forward(self, noise):
        return self.maker(noise)

    def training_step(self, batch, _):
        (real,) = batch
        for_maker, for_judge = self.optimizers()
        made = self(torch.randn(len(real), 8))
        verdicts = self.judge(torch.cat([real, made.detach()])).flatten()
        truth = torch.cat([torch.ones(len(real)), torch.zeros(len(real))])
        judged = F.binary_cross_entropy_with_logits(verdicts, truth)
        for_judge.zero_grad()
        self.manual_backward(judged)
        for_judge.step()
        self.toggle_optimizer(for_maker)
        fooled = F.softplus(-self.judge(made)).mean()
        for_maker.zero_grad()
        self.manual_backward(fooled)
        for_maker.step()
        self.untoggle_optimizer(for_maker)
        self.log_dict({"judged": judged, "fooled": fooled})

    def on_train_epoch_end(self):
        for schedule in self.lr_schedulers():
            schedule.step()

    def configure_optimizers(self):
        optimizers = [torch.optim.Adam(part.parameters(), lr=1e-3, betas=(0.5, 0.99))
                      for part in (self.maker, self.judge)]  # fmt: skip
        return optimizers, [torch.optim.lr_scheduler.ExponentialLR(o, 0.9) for o in optimizers]


angles = 6.2832 * torch.rand(2560)
points = torch.stack([angles.cos(), angles.sin()], 1) + 0.05 * torch.randn(2560, 2)
folder = tempfile.mkdtemp()
trainer = lightning.Trainer(max_epochs=10, accelerator="cpu", devices=1, logger=False,
                            default_root_dir=folder, enable_progress_bar=False,
                            enable_model_summary=False)  # fmt: skip
model = Rings()
trainer.fit(model, DataLoader(TensorDataset(points), batch_size=64, shuffle=True))
model.eval()
with torch.no_grad():
    off = (model(torch.randn(1000, 8)).norm(dim=1) - 1).abs().mean().item()
print(off)
assert off < 0.4, off
