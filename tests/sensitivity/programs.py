"""For each experiment on batches: a small program in float32 with a fault of a given strength, its first
argument."""

import dataclasses

PROGRAM = """
import sys
import torch, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

STRENGTH = float(sys.argv[1])
torch.manual_seed(0)
BEGIN
x = torch.randn(640, 12)
data = TensorDataset(x, x[:, :4].argmax(1))
model = torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
wrapped = WRAPPED
for epoch in range(12):
    for given, kind in DataLoader(data, batch_size=32, ORDER):
        GIVEN
        outputs = wrapped(given)
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
MEAN = "F.cross_entropy(outputs, kind)"


@dataclasses.dataclass(frozen=True)
class Program:
    check: str
    strength: str  # what it is a share of
    begin: str = ""
    given: str = "pass"  # what is done to a batch
    loss: str = MEAN
    wrapped: str = "model"
    order: str = "shuffle=True"
    strongest: float = 0.5
    processes: int = 1

    def text(self):
        parts = {"BEGIN": self.begin, "GIVEN": self.given, "LOSS": self.loss, "WRAPPED": self.wrapped,
                 "ORDER": self.order}
        text = PROGRAM
        for name, part in parts.items():
            text = text.replace(name, part)
        return text


PROGRAMS = {
    "order": Program(
        "data/order_dependence", "of the reversed batch's outputs, added",
        loss="F.cross_entropy(outputs + STRENGTH * outputs.flip(0), kind)"),
    "targets": Program(
        "data/input_target_mismatch", "of the batch, whose targets are rotated",
        given="n = int(STRENGTH * len(kind)); kind[:n] = kind[:n].roll(1)", strongest=1.0),
    "sizes": Program(
        "training_loop/mixed_reductions", "of the outputs' squares, summed, added to the mean",
        loss=MEAN + " + STRENGTH * outputs.square().sum()"),
    "split": Program(
        "training_loop/split_dependence", "of its weight, added to the first half of a batch",
        given="parts = zip(given.chunk(2), kind.chunk(2), (1 + STRENGTH, 1))",
        loss="sum(share * F.cross_entropy(model(x), y) / 2 for x, y, share in parts)"),
    "slope": Program(
        "gradients/gradient_mismatch", "of the outputs, taken for a constant",
        loss="F.cross_entropy((1 - STRENGTH) * outputs + STRENGTH * outputs.detach(), kind)"),
    "rate": Program(
        "optimizer/lr_independent_update", "of a layer's weights, taken off in each step",
        given="model[0].weight.data.mul_(1 - STRENGTH)"),
    "terms": Program(
        "training_loop/negligible_loss_term", "1e-10 over the weight of the outputs' squares, added",
        loss=MEAN + " + 1e-10 / STRENGTH * outputs.square().mean()"),
    "labels": Program(
        "data/target_leakage", "of the label's place, added to features of deviation 1",
        given="given[:, 8:] += STRENGTH * F.one_hot(kind, 4)", strongest=8.0),
    "formulas": Program(
        "numerics/wrong_reimplementation", "of the loss, added by what stands for cross_entropy",
        begin="own = F.cross_entropy; F.cross_entropy = "
              "lambda *given, **options: (1 + STRENGTH) * own(*given, **options)"),
    "ranks": Program(
        "distributed/mismatched_gradient", "of the loss, added", processes=2,
        begin="torch.distributed.init_process_group('gloo')",
        wrapped="torch.nn.parallel.DistributedDataParallel(model)",
        order="sampler=torch.utils.data.distributed.DistributedSampler(data)",
        loss="(1 + STRENGTH * (torch.distributed.get_world_size() - 1)) * " + MEAN),
}  # fmt: skip
