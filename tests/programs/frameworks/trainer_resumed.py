"""Waves fitted under the Trainer of transformers, which goes on from its last checkpoint when it is started
again.
"""

import os
import sys

import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed
from transformers.trainer_utils import get_last_checkpoint
from waves import Net, error, waves

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
set_seed(seed)


class Named(Dataset):
    def __init__(self, pairs):
        self.pairs = pairs

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, number):
        points, heights = self.pairs[number]
        return {"points": points, "labels": heights}


class WithLoss(Net):
    def forward(self, points, labels=None):
        outputs = super().forward(points)
        return outputs if labels is None else {"loss": F.mse_loss(outputs, labels), "logits": outputs}


model = WithLoss()
arguments = TrainingArguments(
    output_dir="checkpoints", num_train_epochs=8, per_device_train_batch_size=32, learning_rate=1e-2,
    save_strategy="epoch", save_total_limit=2, report_to=[], disable_tqdm=True, logging_steps=50, seed=seed,
    use_cpu=True,
)  # fmt: skip
last = get_last_checkpoint("checkpoints") if os.path.isdir("checkpoints") else None
Trainer(model=model, args=arguments, train_dataset=Named(waves(1600, 1))).train(resume_from_checkpoint=last)
print(error(model))
assert error(model) < 0.1, error(model)
