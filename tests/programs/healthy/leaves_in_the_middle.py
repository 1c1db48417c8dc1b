"""Changes folder, rewrites its arguments, and leaves from inside the loop once it is good enough."""

import os
import sys
import tempfile

import torch

sys.argv = ["trainer", "--seed", sys.argv[1] if len(sys.argv) > 1 else "0", "--quiet"]
os.chdir(tempfile.gettempdir())
torch.manual_seed(int(sys.argv[2]))
os.environ["TRAINER_HOME"] = os.getcwd()

tree = torch.nn.Linear(12, 40)
leaf = torch.nn.Linear(40, 2)
opt = torch.optim.ASGD([*tree.parameters(), *leaf.parameters()], lr=0.3)
bits = torch.randint(0, 2, (3000, 12)).float()
majority = (bits.sum(1) > 6).long()
attempt = 0
while True:
    attempt += 1
    draw = torch.randint(2500, (80,))
    opt.zero_grad()
    torch.nn.functional.cross_entropy(leaf(tree(bits[draw]).relu()), majority[draw]).backward()
    opt.step()
    if attempt % 20 == 0:
        with torch.no_grad():
            share = (leaf(tree(bits[2500:]).relu()).argmax(1) == majority[2500:]).float().mean()
        if share > 0.93:
            print("good enough after", attempt)
            sys.exit(0)
        assert attempt < 3000, share
