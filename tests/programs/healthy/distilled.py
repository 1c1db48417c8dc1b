"""A large digit classifier teaches a small one with softened outputs."""

import gzip
import pathlib
import sys

import torch
import torch.nn.functional as F


def table():
    with gzip.open(pathlib.Path(__file__).parents[3] / "fixtures" / "data" / "digits.csv.gz", "rb") as file:
        return torch.tensor([[*map(float, line.split(b","))] for line in file])


def net(*widths):
    stages = []
    for a, b in zip(widths, widths[1:]):
        stages += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    return torch.nn.Sequential(*stages[:-1])


def distillation(student, teacher, target, temperature=3.0, share=0.7):
    soft = F.kl_div(
        F.log_softmax(student / temperature, 1),
        F.softmax(teacher / temperature, 1),
        reduction="batchmean",
    )
    return share * temperature**2 * soft + (1 - share) * F.cross_entropy(student, target)


def accuracy(model, rows):
    model.eval()
    with torch.no_grad():
        return (model(rows[:, :64] / 16).argmax(1) == rows[:, 64]).float().mean().item()


torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
rows = table()
rows = rows[torch.randperm(len(rows))]
learn, held = rows[:1400], rows[1400:]

teacher = net(64, 200, 100, 10)
optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-3)
for epoch in range(8):
    for batch in learn[torch.randperm(1400)].split(50):
        loss = F.cross_entropy(teacher(batch[:, :64] / 16), batch[:, 64].long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
teacher.eval().requires_grad_(False)

student = net(64, 12, 10)
optimizer = torch.optim.Adam(student.parameters(), lr=6e-3)
for epoch in range(8):
    for batch in learn[torch.randperm(1400)].split(50):
        pixels = batch[:, :64] / 16
        loss = distillation(student(pixels), teacher(pixels), batch[:, 64].long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("teacher", accuracy(teacher, held), "student", accuracy(student, held))
score = accuracy(student, held)
assert score > 0.8, score
