"""A small network learns from a large one under Accelerate, which stops and loads its state in between.

Two models and optimizers are prepared; windows of four micro-batches, the last of each epoch is shorter;
evaluation drops what gather_for_metrics says is doubled.
"""

import sys
import tempfile

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from gates import Gate
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

set_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
folder = tempfile.mkdtemp()
rule = torch.randn(10, 4)
table = torch.randn(1900, 10)
kinds = (table @ rule).argmax(1)
EPOCHS, WINDOW = 6, 4


def network(width):
    return nn.Sequential(nn.Linear(10, width), nn.BatchNorm1d(width), Gate(), nn.Dropout(0.1),
                         nn.Linear(width, 4))  # fmt: skip


class Pair:
    """Both models with all that Accelerate prepares for them."""

    def __init__(self):
        self.accelerator = Accelerator(cpu=True, gradient_accumulation_steps=WINDOW)
        train = DataLoader(TensorDataset(table[:1500], kinds[:1500]), batch_size=20, shuffle=True)
        held = DataLoader(TensorDataset(table[1500:], kinds[1500:]), batch_size=90)
        teacher, student = network(64), network(16)
        teaching = torch.optim.AdamW(teacher.parameters(), lr=1e-2)
        learning = torch.optim.AdamW(student.parameters(), lr=1e-2)
        rate = torch.optim.lr_scheduler.LinearLR(
            learning, 1.0, 0.1, total_iters=EPOCHS * -(-len(train) // WINDOW))
        (self.teacher, self.student, self.teaching, self.learning, self.rate, self.train,
         self.held) = self.accelerator.prepare(teacher, student, teaching, learning, rate, train, held)

    def epoch(self):
        self.teacher.train()
        self.student.train()
        for given, kind in self.train:
            with self.accelerator.accumulate(self.teacher, self.student):
                taught = self.teacher(given)
                self.accelerator.backward(F.cross_entropy(taught, kind))
                self.teaching.step()
                self.teaching.zero_grad()
                wanted = taught.detach().softmax(1)
                self.accelerator.backward(F.cross_entropy(self.student(given), wanted))
                self.learning.step()
                self.rate.step()
                self.learning.zero_grad()

    def accuracy(self):
        self.student.eval()
        right = []
        with torch.no_grad():
            for given, kind in self.held:
                guessed = self.student(given)
                self.loss = F.cross_entropy(guessed, kind).item()
                guessed = guessed.argmax(1)
                guessed, kind = self.accelerator.gather_for_metrics((guessed, kind))
                right.append(guessed == kind)
        return torch.cat(right).float().mean().item()


first = Pair()
for _ in range(2):
    first.epoch()
first.accelerator.save_state(folder)
pair = Pair()
pair.accelerator.load_state(folder)
for _ in range(EPOCHS - 2):
    pair.epoch()
    final = pair.accuracy()
    pair.accelerator.print(final)
assert pair.accuracy() == final
assert final > 0.85, final
