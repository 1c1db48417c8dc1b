"""Runs a program and prints digests of its weights, optimizer state and random state every fifth
step and at its end, and of all tensors that it leaves behind: some have weights and no optimizer.
The same in a watched and an unwatched run: it knows nothing of the shim.

Usage: state_harness.py PROGRAM ARGUMENTS
"""

import atexit
import hashlib
import random
import re
import runpy
import sys

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

steps, seen = [0], {}


def add(digest, value):
    if isinstance(value, torch.Tensor):
        digest.update(bytes(value.detach().contiguous().view(-1).view(torch.uint8).tolist()))
    elif isinstance(value, dict):
        for item in value.values():
            add(digest, item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            add(digest, item)
    else:
        # An object's address is nothing of the program's.
        digest.update(re.sub(r"0x[0-9a-f]+", "", repr(value)).encode())


def show(optimizer):
    digest = hashlib.sha256()
    add(digest, optimizer.state_dict())
    add(digest, [p for group in optimizer.param_groups for p in group["params"]])
    add(digest, torch.get_rng_state())
    add(digest, random.getstate())
    print("state", steps[0], digest.hexdigest())


def tensors_in(value):
    """Tensors of a value that the program gave a name, as far as their bytes can be read."""
    if isinstance(value, torch.nn.Module):
        value = value.state_dict()
    if isinstance(value, torch.Tensor):
        if value.layout is torch.strided and value.device.type == "cpu":
            yield value
    elif isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)


def show_left(names):
    digest = hashlib.sha256()
    for name in sorted(names):
        add(digest, list(tensors_in(names[name])))
    add(digest, [torch.get_rng_state(), random.getstate()])
    print("left", digest.hexdigest())


def after_step(optimizer, args, kwargs):
    seen["optimizer"] = optimizer
    steps[0] += 1
    if steps[0] % 5 == 0:
        show(optimizer)


random.seed(0)
torch.manual_seed(0)
register_optimizer_step_post_hook(after_step)
atexit.register(lambda: show(seen["optimizer"]) if seen else None)
sys.argv = sys.argv[1:]
show_left(runpy.run_path(sys.argv[0], run_name="__main__"))
