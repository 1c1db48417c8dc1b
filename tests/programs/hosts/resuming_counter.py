#!/usr/bin/env python3
"""Sums of short lists by a recurrent net; a step counter, a warm-up, and a file that is replaced whole."""
import os, random, torch
import torch.nn.functional as F

torch.manual_seed(3); random.seed(3)
STEPS, PATH = 360, os.path.join(os.getcwd(), "counter", "latest")
os.makedirs(os.path.dirname(PATH), exist_ok=True)
cell, top = torch.nn.GRU(1, 24, batch_first=True), torch.nn.Linear(24, 1)
weights = [*cell.parameters(), *top.parameters()]
opt = torch.optim.RMSprop(weights, lr=4e-3)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda n: min(1.0, (n + 1) / 120))


def predict(lists):
    _, last = cell(lists)
    return top(last[0])


def store(step):
    state = dict(step=step, cell=cell.state_dict(), top=top.state_dict(), opt=opt.state_dict(),
                 warm=warm.state_dict(), random=(torch.get_rng_state(), random.getstate()))
    torch.save(state, PATH + ".new"); os.replace(PATH + ".new", PATH)


def recall():
    if not os.path.exists(PATH): return 0
    state = torch.load(PATH, weights_only=False)
    cell.load_state_dict(state["cell"]); top.load_state_dict(state["top"])
    opt.load_state_dict(state["opt"])
    warm.load_state_dict(state["warm"])
    torch.set_rng_state(state["random"][0]); random.setstate(state["random"][1])
    return state["step"]


step = recall()
while step < STEPS:
    lists = torch.randn(48, random.randint(3, 6), 1)
    opt.zero_grad()
    loss = F.smooth_l1_loss(predict(lists), lists.sum(1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(weights, 1.0)
    opt.step(); warm.step(); step += 1
    if step % 40 == 0: store(step)
with torch.no_grad():
    tested = torch.randn(400, 5, 1)
    error = F.mse_loss(predict(tested), tested.sum(1)).item() / 5
print("error", error)
assert error < 0.15, error
