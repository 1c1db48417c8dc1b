"""Keeps the batches of the first steps whole, where the user asked for it with --capture: what the model was given, the
targets, and the loss. `dlcheck reference` trains plain models on them.

The file is a line `dlcheck capture 1`, and for each batch a line of JSON and the elements of both tensors. The steps
are all recorded in full, so that each loss is examined.
"""

import ctypes
import json
import math
import os

import torch

from ..record.owned_file import OwnedFile
from ..torch_api import tensors

HEAD = b"dlcheck capture 1\n"
MOST_BYTES = 1 << 30
IGNORED = -100  # a target that does not count
MOST_SCORES = 1 << 22  # that are copied at once
OF_CLASSES = ("cross_entropy", "nll_loss")
OF_NUMBERS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
# Of a parameter group: what a rule goes by.
SETTINGS = ("lr", "momentum", "dampening", "nesterov", "betas", "eps", "alpha", "centered", "weight_decay", "amsgrad")
DROPOUTS = (torch.nn.Dropout, torch.nn.Dropout1d, torch.nn.Dropout2d, torch.nn.Dropout3d, torch.nn.AlphaDropout)


class Captured:
    def __init__(self, guard, recorder):
        self.recorder, self.count = recorder, recorder.request.capture
        for name in ("given", "met", "loss_examined", "used", "stepped"):
            setattr(self, name, guard.isolated("capture")(getattr(self, name)))
        self.reset()

    def reset(self):
        self.file, self.is_over = None, False
        self.inputs = None  # a copy of what the model was given that was called last
        self.dropout = 0.0  # the largest probability of the layers met so far
        self.pieces = []  # of the step under way
        self.optimizer = {}  # of the step under way: its name and the settings of its first group

    def subscribe(self, moments):
        if not self.count or self.recorder.request.experiment != "plain":
            return
        moments.begins_anew.append(self.reset)
        moments.module_named.append(self.met)
        moments.forward_given.append(self.given)
        moments.loss_examined.append(self.loss_examined)
        moments.gradients_used.append(self.used)
        moments.stepped.append(self.stepped)

    def given(self, model, inputs):
        first = next((value for value in inputs if tensors.is_readable(value)), None)
        if self.is_over or first is None or first.dim() < 2:
            return
        if tensors.may_compute():
            with tensors.unrecorded():
                self.inputs = first.detach().to("cpu", copy=True).contiguous()

    def met(self, module, thing):
        if type(module) in DROPOUTS:
            self.dropout = max(self.dropout, float(module.__dict__.get("p", 0.0)))

    def loss_examined(self, call):
        if self.is_over or self.inputs is None or not fits(call, self.inputs):
            return
        x, self.inputs = self.inputs, None
        target = call.target.detach().to("cpu", copy=True).contiguous()
        ignored = call.options.get("ignore_index", IGNORED)
        if call.function in OF_CLASSES and ignored != IGNORED:
            target = target.masked_fill(target == ignored, IGNORED)
        self.pieces.append((*measured(call), x, target))

    def used(self, optimizer, watched):
        if not self.is_over and self.pieces:
            self.optimizer = {"name": type(optimizer).__name__, **numbers_of(optimizer.param_groups[0])}

    def stepped(self):
        step, pieces = self.recorder.step - 1, self.pieces
        self.inputs, self.pieces = None, []
        if self.is_over or not pieces:
            return
        data = b"".join(self.written(step, *piece) for piece in pieces)
        if self.size() + len(data) > MOST_BYTES:
            data = json.dumps({"ended": f"{MOST_BYTES >> 20} MiB are the most"}).encode() + b"\n"
            self.is_over = True
        self.is_over = self.is_over or step + 1 >= self.count
        self.append(data)

    def size(self):
        return 0 if self.file is None else self.file.size

    def written(self, step, loss, classes, x, y):
        loss = loss if math.isfinite(loss) else None  # JSON has no other numbers
        line = {"step": step, "classes": classes, "dropout": self.dropout, "loss": loss, "x": described(x),
                "y": described(y), "optimizer": self.optimizer}  # fmt: skip
        return json.dumps(line).encode() + b"\n" + bytes_of(x) + bytes_of(y)

    def append(self, data):
        if self.file is None:
            path = os.path.join(self.recorder.request.run_folder, f"capture-{os.getpid()}.batches")
            self.file, data = OwnedFile(path), HEAD + data
        self.file.size = self.file.append(data)


def numbers_of(group):
    """The settings of a group that are plain numbers, or a pair of them."""
    found = {}
    for name in SETTINGS:
        value = group.get(name)
        parts = value if type(value) is tuple else (value,)
        if all(type(part) in (int, float, bool) for part in parts):
            found[name] = value
    return found


def fits(call, x):
    """Whether the targets are classes, one for each sample or token of `x`, or numbers of each sample. Those that are
    like the inputs are to be built from them, and a linear model would only have to copy."""
    y = call.target
    if not tensors.is_readable(y):
        return False
    if call.function in OF_NUMBERS:
        is_told = y.dim() > 0 and y.shape[0] == x.shape[0] and y.numel() != x.numel()
        return is_told and x.is_floating_point() and y.is_floating_point() and call.output.shape == y.shape
    if call.function not in OF_CLASSES or y.is_floating_point() or call.output.dim() < 2:
        return False
    return y.shape == x.shape[:1] or (not x.is_floating_point() and y.numel() == x.numel())


def measured(call):
    """The plain loss, and how many classes there are, or numbers of a sample."""
    if call.function in OF_CLASSES:
        return cross_entropy(call), call.output.shape[1]
    error = (call.output.detach().float() - call.target.detach().float()).square().mean()
    return float(error), call.target.numel() // max(call.target.shape[0], 1)


def cross_entropy(call):
    """The mean cross-entropy of the targets that count, without weights and smoothing. A part of the rows at a time: a
    copy of all scores may be more memory than the program has left."""
    scores = call.output.detach().movedim(1, -1).flatten(0, -2)
    targets = call.target.detach().flatten()
    counted = targets != call.options.get("ignore_index", IGNORED)
    rows, total = max(1, MOST_SCORES // scores.shape[1]), 0.0
    for part, target, counts in zip(scores.split(rows), targets.split(rows), counted.split(rows)):
        part = part.float().log_softmax(1) if call.function == "cross_entropy" else part.float()
        chosen = part.gather(1, target.masked_fill(~counts, 0).long().unsqueeze(1)).squeeze(1)
        total -= float((chosen * counts).sum())
    return total / max(int(counted.sum()), 1)


def described(tensor):
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}


def bytes_of(tensor):
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size()) if tensor.numel() else b""
