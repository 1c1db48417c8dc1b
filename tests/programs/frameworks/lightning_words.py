"""The next symbol told by a recurrent network under Lightning, on one sequence of batches that is overfitted."""

import sys
import tempfile

import lightning
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
lightning.seed_everything(seed)


class Next(lightning.LightningModule):
    def __init__(self, width=48):
        super().__init__()
        self.given, self.said = nn.Embedding(5, width), nn.Linear(width, 5)
        self.read = nn.GRU(width, width, batch_first=True)

    def forward(self, symbols):
        return self.said(self.read(self.given(symbols))[0])

    def training_step(self, batch, _):
        (symbols,) = batch
        outputs = self(symbols[:, :-1])
        loss = F.nll_loss(outputs.log_softmax(-1).flatten(0, 1), symbols[:, 1:].flatten())
        self.log("loss", loss, prog_bar=False)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-3)


symbols = torch.randint(5, (2000, 14))
for place in range(2, 14):
    symbols[:, place] = (2 * symbols[:, place - 1] + symbols[:, place - 2]) % 5
trainer = lightning.Trainer(max_epochs=20, overfit_batches=20, accelerator="cpu", devices=1, logger=False,
                            enable_checkpointing=False, default_root_dir=tempfile.mkdtemp(),
                            enable_progress_bar=False, enable_model_summary=False)  # fmt: skip
trainer.fit(Next(), DataLoader(TensorDataset(symbols), batch_size=50, shuffle=False))
final = float(trainer.callback_metrics["loss"])
print(final)
assert final < 0.8, final
