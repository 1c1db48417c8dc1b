"""A residual network of its own under the Trainer: compiled, smoothed labels, a given optimizer and schedule."""

import sys
import tempfile

import torch
import torch.nn.functional as F
from torch import nn
from transformers import PretrainedConfig, Trainer, TrainingArguments, set_seed

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
set_seed(seed)
BATCH, EPOCHS = 50, 8
rule = torch.randn(12, 5)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(0.05)
        self.first, self.second = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.drop(self.second(F.gelu(self.first(self.norm(x)))))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.config = PretrainedConfig()  # the label smoother asks for it
        self.body = nn.Sequential(nn.Linear(12, 48), Block(48), Block(48), nn.Linear(48, 5))

    def forward(self, features, labels=None):
        logits = self.body(features)
        return {"logits": logits} if labels is None else {
            "loss": F.cross_entropy(logits, labels), "logits": logits}  # fmt: skip


class Table(torch.utils.data.Dataset):
    def __init__(self, rows, noise):
        self.features, self.noise = torch.randn(rows, 12), noise
        self.labels = (self.features @ rule).argmax(1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, row):
        noise = self.noise * torch.randn(12)
        return {"features": self.features[row] + noise, "labels": self.labels[row]}


def accuracy(predictions):
    return {"accuracy": float((predictions.predictions.argmax(-1) == predictions.label_ids).mean())}


train, held = Table(2000, 0.02), Table(400, 0.0)
model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
steps = EPOCHS * len(train) // BATCH
rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    num_train_epochs=EPOCHS,
    per_device_train_batch_size=BATCH,
    label_smoothing_factor=0.1,
    dataloader_num_workers=2,
    dataloader_persistent_workers=True,
    torch_compile=True,
    torch_compile_backend="aot_eager",
    eval_strategy="epoch",
    save_strategy="epoch",
    save_total_limit=2,
    report_to=[],
    disable_tqdm=True,
    seed=seed,
    use_cpu=True,
)
trainer = Trainer(model=model, args=arguments, train_dataset=train, eval_dataset=held,
                  compute_metrics=accuracy, optimizers=(optimizer, rate))  # fmt: skip
trainer.train()
final = trainer.evaluate()["eval_accuracy"]
print(final)
assert final > 0.85, final
