"""A BERT from its configuration that tells padded sentences apart, by the Trainer with a collator."""

import sys
import tempfile

import torch
from gates import Gate
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
set_seed(seed)


def sentence():
    """Which of two words comes more often decides its kind."""
    length = int(torch.randint(8, 20, ()))
    words = torch.randint(3, 12, (length,))
    return {"words": words, "kind": int((words == 3).sum() > (words == 4).sum())}


def collate(samples):
    words = torch.nn.utils.rnn.pad_sequence([s["words"] for s in samples], batch_first=True)
    return {
        "input_ids": words,
        "attention_mask": (words != 0).long(),
        "labels": torch.tensor([s["kind"] for s in samples]),
    }


def accuracy(predictions):
    return {"accuracy": float((predictions.predictions.argmax(-1) == predictions.label_ids).mean())}


config = BertConfig(vocab_size=12, hidden_size=48, num_hidden_layers=2, num_attention_heads=2,
                    intermediate_size=96, max_position_embeddings=32, num_labels=2)  # fmt: skip
model = BertForSequenceClassification(config)
for layer in model.bert.encoder.layer:
    layer.intermediate.intermediate_act_fn = Gate()
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    max_steps=300,
    per_device_train_batch_size=32,
    learning_rate=2e-3,
    weight_decay=0.01,
    warmup_steps=30,
    max_grad_norm=1.0,
    eval_strategy="steps",
    eval_steps=100,
    save_strategy="no",
    remove_unused_columns=False,
    report_to=[],
    disable_tqdm=True,
    seed=seed,
    use_cpu=True,
)
trainer = Trainer(
    model=model,
    args=arguments,
    data_collator=collate,
    train_dataset=[sentence() for _ in range(3000)],
    eval_dataset=[sentence() for _ in range(400)],
    compute_metrics=accuracy,
)
trainer.train()
final = trainer.evaluate()["eval_accuracy"]
print(final)
assert final > 0.85, final
