"""Words tagged by a BERT under a Trainer with a loss of its own, resumed from a checkpoint in the middle.

Accumulation with the number of all targets, bf16, recomputed activations, batches grouped by length,
the best checkpoint loaded at the end, and a callback.
"""

import sys
import tempfile

import torch
import torch.nn.functional as F
from transformers import (
    BertConfig,
    BertForTokenClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
set_seed(seed)


def sentence():
    """The tag of a word says whether it is larger than the word before it."""
    words = torch.randint(1, 8, (int(torch.randint(6, 20, ())),))
    return {"input_ids": words, "labels": (words > words.roll(1)).long()}


def collate(samples):
    words = torch.nn.utils.rnn.pad_sequence([s["input_ids"] for s in samples], batch_first=True)
    tags = [s["labels"] for s in samples]
    return {
        "input_ids": words,
        "attention_mask": (words != 0).long(),
        "labels": torch.nn.utils.rnn.pad_sequence(tags, batch_first=True, padding_value=-100),
    }


class Tagging(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        logits = outputs.logits.flatten(0, 1)
        if num_items_in_batch is None:
            loss = F.nll_loss(logits.log_softmax(-1), labels.flatten())
        else:
            loss = F.nll_loss(logits.log_softmax(-1), labels.flatten(), reduction="sum") / num_items_in_batch
        return (loss, {"loss": loss, **outputs}) if return_outputs else loss


class Rates(TrainerCallback):
    def __init__(self):
        self.seen = []

    def on_step_end(self, args, state, control, optimizer=None, **others):
        self.seen.append(optimizer.param_groups[0]["lr"])


def share_of_right_tags(predictions):
    there = predictions.label_ids != -100
    right = predictions.predictions.argmax(-1) == predictions.label_ids
    return {"accuracy": float(right[there].mean())}


folder = tempfile.mkdtemp()
train, held = [sentence() for _ in range(1616)], [sentence() for _ in range(200)]


def trained(steps, start=None):
    config = BertConfig(vocab_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=64, max_position_embeddings=24, num_labels=2)  # fmt: skip
    model = BertForTokenClassification(config)
    arguments = TrainingArguments(
        output_dir=folder,
        max_steps=steps,
        per_device_train_batch_size=16,
        gradient_accumulation_steps=2,
        learning_rate=4e-3,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=20,
        weight_decay=0.05,
        bf16=True,
        gradient_checkpointing=True,
        train_sampling_strategy="group_by_length",
        eval_strategy="steps",
        eval_steps=60,
        save_strategy="steps",
        save_steps=60,
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",
        report_to=[],
        disable_tqdm=True,
        seed=seed,
        use_cpu=True,
    )
    rates = Rates()
    trainer = Tagging(
        model=model,
        args=arguments,
        data_collator=collate,
        train_dataset=train,
        eval_dataset=held,
        compute_metrics=share_of_right_tags,
        callbacks=[rates],
    )
    trainer.train(resume_from_checkpoint=start)
    return trainer.evaluate()["eval_accuracy"], len(rates.seen)


trained(60)
final, steps = trained(180, f"{folder}/checkpoint-60")
print(final, steps)
assert steps == 120 and final > 0.8, (final, steps)
