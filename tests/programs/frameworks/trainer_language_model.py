"""A small GPT-2 from its configuration, trained by the Trainer of transformers on made-up sentences."""

import sys
import tempfile

import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

WORDS, LENGTH = 40, 24
seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
set_seed(seed)


class Sentences(torch.utils.data.Dataset):
    """Each word follows from the two before it, now and then it is any."""

    def __init__(self, count):
        self.rows = torch.randint(WORDS, (count, LENGTH))
        for place in range(2, LENGTH):
            ruled = (3 * self.rows[:, place - 1] + self.rows[:, place - 2]) % WORDS
            keep = torch.rand(count) < 0.05
            self.rows[:, place] = torch.where(keep, self.rows[:, place], ruled)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {"input_ids": self.rows[index], "labels": self.rows[index]}


class Frozen(TrainerCallback):
    """Positions keep what they have learned in the last epoch."""

    def on_epoch_begin(self, args, state, control, model=None, **others):
        if state.epoch >= 3:
            model.transformer.wpe.requires_grad_(False)


config = GPT2Config(vocab_size=WORDS, n_positions=LENGTH, n_embd=64, n_layer=2, n_head=2,
                    bos_token_id=0, eos_token_id=0)  # fmt: skip
model = GPT2LMHeadModel(config)
folder = tempfile.mkdtemp()
arguments = TrainingArguments(
    output_dir=folder,
    num_train_epochs=4,
    per_device_train_batch_size=16,
    gradient_accumulation_steps=2,
    learning_rate=4e-3,
    lr_scheduler_type="cosine",
    warmup_steps=20,
    eval_strategy="epoch",
    logging_steps=40,
    save_strategy="epoch",
    save_total_limit=1,
    report_to=[],
    disable_tqdm=True,
    seed=seed,
    use_cpu=True,
)
trainer = Trainer(model=model, args=arguments, train_dataset=Sentences(2400),
                  eval_dataset=Sentences(200), callbacks=[Frozen()])  # fmt: skip
trainer.train()
final = trainer.evaluate()["eval_loss"]
print(final)
assert final < 2.5, final
