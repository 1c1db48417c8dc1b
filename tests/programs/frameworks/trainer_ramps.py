"""Ramps told apart by their positions under the Trainer of transformers, which is given a model of one's own."""

import sys
import tempfile

from ramps import Decoder, Ramps, loss_of, right
from torch.utils.data import DataLoader
from transformers import Trainer, TrainingArguments, set_seed

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
set_seed(seed)


class WithLoss(Decoder):
    def forward(self, tokens, position_ids, attention_mask, labels=None):
        outputs = super().forward(tokens, position_ids, attention_mask)
        return outputs if labels is None else {"loss": loss_of(outputs, labels), "logits": outputs}


model = WithLoss()
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(), num_train_epochs=6, per_device_train_batch_size=32, learning_rate=6e-3,
    lr_scheduler_type="cosine", save_strategy="no", report_to=[], disable_tqdm=True, logging_steps=50,
    seed=seed, use_cpu=True,
)  # fmt: skip
Trainer(model=model, args=arguments, train_dataset=Ramps(1600, 1)).train()
score = right(model, DataLoader(Ramps(160, 2), batch_size=40))
print(score)
assert score > 0.7, score
