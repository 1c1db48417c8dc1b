"""Keeps the batches of the first steps whole, where the user asked for it with --capture: what the model was given, the
targets, and the loss. `dlcheck reference` trains plain models on them. Of several models the one that trains first.

The file is a line `dlcheck capture 1`, and for each batch a line of JSON and the elements of both tensors. The steps
are all recorded in full, so that each loss is examined. The time of a step is that of later ones, which are not.
"""

import ctypes
import json
import math
import os
import statistics

import torch

from ..autograd.loss_graph import loss_behind
from ..record.owned_file import OwnedFile
from ..system import perf_counter
from ..torch_api import tensors

HEAD = b"dlcheck capture 1\n"
MOST_BYTES = 1 << 30
IGNORED = -100  # a target that does not count
MOST_SCORES = 1 << 22  # that are copied at once
FEWEST_TIMES, MOST_TIMES = 20, 512  # of steps without a record
MOST_PIECES = 1024  # of a step: losses without one would fill the memory
ROOM = 0.1  # of a loss, for what a penalty adds to it
OF_CLASSES = ("cross_entropy", "nll_loss")
OF_NUMBERS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
# Of a parameter group: what a rule goes by.
SETTINGS = ("lr", "momentum", "dampening", "nesterov", "betas", "eps", "alpha", "centered", "weight_decay", "amsgrad")
DROPOUTS = (torch.nn.Dropout, torch.nn.Dropout1d, torch.nn.Dropout2d, torch.nn.Dropout3d, torch.nn.AlphaDropout)


class Piece:
    """One batch, and the loss of it."""

    __slots__ = ("loss", "classes", "has_weights", "has_terms", "x", "y")

    def __init__(self, call, x, y):
        self.loss, self.classes = measured(call)
        self.has_weights = call.options.get("weight") is not None
        self.has_terms = None  # whether the program minimizes further terms; not known before its backward
        self.x, self.y = x, y


class Captured:
    def __init__(self, guard, recorder):
        self.recorder, self.count = recorder, recorder.request.capture
        self.is_on = self.count > 0 and recorder.request.experiment == "plain"
        for name in ("given", "met", "loss_examined", "reached_by", "used", "stepped", "write_time"):
            setattr(self, name, guard.isolated("capture")(getattr(self, name)))
        self.reset()

    def reset(self):
        self.file, self.is_over = None, False
        self.inputs = None  # a copy of what the model was given that was called last
        self.called, self.model = 0, None  # things of that model, and of the one whose batches are kept
        self.dropout = 0.0  # the largest probability of the layers met so far
        self.pieces = []  # of the step under way
        self.optimizer = {}  # of the step under way: its name and the settings of its first group
        self.ended, self.times = None, []  # when the last step ended, after the capture; seconds of steps

    def subscribe(self, moments):
        if not self.is_on:
            return
        moments.begins_anew.append(self.reset)
        moments.module_named.append(self.met)
        moments.forward_given.append(self.given)
        moments.loss_examined.append(self.loss_examined)
        moments.gradients_used.append(self.used)
        moments.stepped.append(self.stepped)
        moments.run_ends.append(self.write_time)

    def looks(self):
        """What is called before a backward."""
        return (self.reached_by,) if self.is_on else ()

    def given(self, model, inputs):
        first = next((value for value in inputs if tensors.is_readable(value)), None)
        if self.is_over or first is None or first.dim() < 2:
            return
        if tensors.may_compute():
            with tensors.unrecorded():
                self.inputs, self.called = first.detach().to("cpu", copy=True).contiguous(), model.thing

    def met(self, module, thing):
        if type(module) in DROPOUTS:
            self.dropout = max(self.dropout, float(module.__dict__.get("p", 0.0)))

    def loss_examined(self, call):
        if self.is_over or self.inputs is None or not fits(call, self.inputs):
            return
        x, self.inputs = self.inputs, None
        if self.model is None:
            self.model = self.called
        if self.model != self.called or len(self.pieces) == MOST_PIECES:
            return
        target = call.target.detach().to("cpu", copy=True).contiguous()
        ignored = call.options.get("ignore_index", IGNORED)
        if call.function in OF_CLASSES and ignored != IGNORED:
            target = target.masked_fill(target == ignored, IGNORED)
        self.pieces.append(Piece(call, x, target))

    def reached_by(self, loss):
        """Before a backward from `loss`: whether it is more than the losses of the pieces, or their mean."""
        pieces = [piece for piece in self.pieces if piece.has_terms is None]
        if not pieces:
            return
        total, whole = sum(piece.loss for piece in pieces), loss.item()
        is_all = loss_behind(loss) is not None or any(
            abs(whole - own) <= ROOM * abs(own) for own in (total, total / len(pieces))
        )
        for piece in pieces:
            piece.has_terms = not is_all

    def used(self, optimizer, watched):
        if not self.is_over and self.pieces:
            self.optimizer = {"name": type(optimizer).__name__, **numbers_of(optimizer.param_groups[0])}

    def stepped(self):
        step, pieces = self.recorder.step - 1, self.pieces
        self.inputs, self.pieces = None, []
        if self.is_over:
            self.take_time()
            return
        if not pieces:
            return
        data = b"".join(self.written(step, piece) for piece in pieces)
        if self.size() + len(data) > MOST_BYTES:
            data = json.dumps({"ended": f"{MOST_BYTES >> 20} MiB are the most"}).encode() + b"\n"
            self.is_over = True
        self.is_over = self.is_over or step + 1 >= self.count
        self.append(data)

    def take_time(self):
        before, self.ended = self.ended, perf_counter()
        if before is not None and not self.recorder.near_sampled and len(self.times) < MOST_TIMES:
            self.times.append(self.ended - before)

    def write_time(self):
        if self.file is not None and len(self.times) >= FEWEST_TIMES:
            self.append(json.dumps({"milliseconds": 1000 * statistics.median(self.times)}).encode() + b"\n")

    def size(self):
        return 0 if self.file is None else self.file.size

    def written(self, step, piece):
        line = {"step": step, "classes": piece.classes, "dropout": self.dropout,
                "loss": piece.loss if math.isfinite(piece.loss) else None,  # JSON has no other numbers
                "class_weights": piece.has_weights, "further_terms": piece.has_terms is not False,
                "x": described(piece.x), "y": described(piece.y), "optimizer": self.optimizer}  # fmt: skip
        return json.dumps(line).encode() + b"\n" + bytes_of(piece.x) + bytes_of(piece.y)

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
