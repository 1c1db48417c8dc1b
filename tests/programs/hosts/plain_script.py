"""Everything at the top level: five classes of points in twenty dimensions."""

import os
import sys
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)

directions = torch.randn(20, 5)
points = torch.randn(1500, 20)
classes = (points @ directions).argmax(1)
train_set = TensorDataset(points[:1200], classes[:1200])
test_set = TensorDataset(points[1200:], classes[1200:])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)
test_loader = DataLoader(test_set, batch_size=50)

EPOCHS = 7
model = nn.Sequential(
    nn.Linear(20, 64),
    nn.BatchNorm1d(64),
    nn.ReLU(),
    nn.Dropout(0.1),
    nn.Linear(64, 5),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.001)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS * len(train_loader))


def evaluate():
    model.eval()
    right = 0
    with torch.no_grad():
        for inputs, targets in test_loader:
            outputs = model(inputs)
            F.cross_entropy(outputs, targets)
            right += (outputs.argmax(1) == targets).sum().item()
    model.train()
    return right / len(test_set)


folder = tempfile.TemporaryDirectory()
for epoch in range(EPOCHS):
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = F.cross_entropy(outputs, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    accuracy = evaluate()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy:.3f}")
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "epoch": epoch,
    }
    torch.save(state, os.path.join(folder.name, "last.pt"))
assert accuracy > 0.8, accuracy
