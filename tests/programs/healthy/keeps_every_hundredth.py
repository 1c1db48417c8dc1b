"""Weights are kept after every hundredth update, and once more when the last update is done.

The number of updates is no multiple of a hundred.
"""

import os
import sys
import tempfile

import torch
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
UPDATES, EVERY = 430, 100

plane = torch.randn(1400, 6)
side = (plane[:, 0] * plane[:, 1] + plane[:, 2] > 0).long()

judge = torch.nn.Sequential(
    torch.nn.Linear(6, 48), torch.nn.ReLU(),
    torch.nn.Linear(48, 48), torch.nn.ReLU(),
    torch.nn.Linear(48, 2),
)
mover = torch.optim.AdamW(judge.parameters(), lr=4e-3, weight_decay=0.01)

with tempfile.TemporaryDirectory() as folder:
    for update in range(1, UPDATES + 1):
        pick = torch.randint(1100, (64,))
        mover.zero_grad()
        F.cross_entropy(judge(plane[pick]), side[pick]).backward()
        mover.step()
        if update % EVERY == 0 or update == UPDATES:
            torch.save({"judge": judge.state_dict(), "mover": mover.state_dict()},
                       os.path.join(folder, f"{update}.pt"))

judge.eval()
with torch.no_grad():
    right = (judge(plane[1100:]).argmax(1) == side[1100:]).float().mean().item()
print("right:", round(right, 3))
assert right > 0.85, right
