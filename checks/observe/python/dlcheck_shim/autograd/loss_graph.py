"""Reads the autograd graph between a loss function and what a backward starts from, before it runs:
by which numbers the loss was multiplied, and what made the numbers given to it.

Nodes are marked through their own `metadata`, which lives and dies with them; nothing is kept
alive.
"""

import re

import torch

from ..torch_api import private
from ..torch_api.capabilities import is_compiling
from ..torch_api.wrapping import only_before, replace

LOSS, SCALE, LIFE = "dlcheck loss", "dlcheck scale", "dlcheck life"
LONGEST_CHAIN = 16
AFTER_SCALE = 4  # nodes between the scale of a loss and its backward: a division, a cast

# Nodes that only arrange or convert what they are given.
ARRANGING = {
    "ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0", "TransposeBackward0",
    "PermuteBackward0", "SqueezeBackward0", "SqueezeBackward1", "SqueezeBackward2",
    "UnsqueezeBackward0", "ToCopyBackward0", "CloneBackward0", "SliceBackward0", "AliasBackward0",
    "TBackward0", "SelectBackward0", "ExpandBackward0", "AsStridedBackward0",
}  # fmt: skip
# Nodes that turn numbers into others of their own meaning.
MAKERS = {
    "SoftmaxBackward0": "softmax",
    "LogSoftmaxBackward0": "log_softmax",
    "SigmoidBackward0": "sigmoid",
    "TanhBackward0": "tanh",
    "ReluBackward0": "relu",
}
# How far before the scores of a loss a logarithm is looked for.
MOST_BEHIND = 64
NATIVE = re.compile(r"Backward\d+$|AccumulateGrad$|CopySlices$")  # not of a function of the program's own
# Nodes that take the error of one number apart from all others, or average such errors.
ERRORS = {"PowBackward0", "AbsBackward0", "SqrtBackward0", "MeanBackward0", "SumBackward0",
          "MeanBackward1", "SumBackward1", "NegBackward0", "MulBackward0", "DivBackward0"}  # fmt: skip


class Life:
    """Dies with the node that holds it."""

    __slots__ = ("__weakref__",)


class SavedTensors:
    """Whether the program asks to pack what graphs save: to read that would unpack it once more than
    the program expects."""

    packed = False  # at any time
    packings, open = 0, 0  # begun so far, and not yet ended

    @classmethod
    def moment(cls):
        """Equal at two times if nothing that a graph saved between them was packed."""
        return None if cls.open else cls.packings


def watch_packing():
    def enters(args, kwargs):
        SavedTensors.packed = True
        if not is_compiling():  # a number that changes would compile anew each time
            SavedTensors.packings += 1
            SavedTensors.open += 1

    def leaves(args, kwargs):
        if not is_compiling():
            SavedTensors.open -= 1

    replace([torch.autograd.graph.saved_tensors_hooks], "__enter__", only_before(enters))
    replace([torch.autograd.graph.saved_tensors_hooks], "__exit__", only_before(leaves))


class Scales:
    """Whether a loss scaler was ever seen at work: where none was, nobody need look for its marks."""

    seen = False


def mark(node, key, value):
    if node is not None:
        node.metadata[key] = value


def mark_scale(node, scale):
    Scales.seen = True
    mark(node, SCALE, scale)


def mark_of(node, key):
    return node.metadata.get(key)


def only_input(node):
    """The one node before this one; None where there are several or none."""
    before = [n for n, _ in node.next_functions if n is not None]
    return before[0] if len(before) == 1 else None


def factor_of(node):
    """What a node multiplies a lone number with; None if it does anything else."""
    name = node.name()
    if name in ARRANGING:
        return 1.0
    if name == "NegBackward0":
        return -1.0
    if name not in ("MulBackward0", "DivBackward0"):
        return None
    other = private.saved(node, "other")
    if other is None:
        return None
    if isinstance(other, torch.Tensor):
        if other.numel() != 1 or other.requires_grad or not other.is_cpu:
            return None
        other = other.item()
    if name == "MulBackward0":
        return float(other)
    return 1.0 / float(other) if other else None


def mark_loss(node, made):
    """`made`: thing, what the loss is in means over its targets, and their number."""
    mark(node, LOSS, (made, SavedTensors.moment()))


def loss_behind(loss):
    """The mark of the loss function that `loss` comes from and the factor between them, without
    that of a loss scaler; None where more than numbers lies between."""
    node, passed = loss.grad_fn, []
    while node is not None and mark_of(node, LOSS) is None and len(passed) < LONGEST_CHAIN:
        passed.append(node)
        node = only_input(node)
    found = node is not None and mark_of(node, LOSS)
    if not found:
        return None
    made, moment = found
    factor = 1.0
    for node in passed:
        if mark_of(node, SCALE) is not None:
            continue
        if node.name() not in ARRANGING and (moment is None or moment != SavedTensors.moment()):
            return None
        step = factor_of(node)
        if step is None:
            return None
        factor *= step
    return made, factor


def terms_behind(loss):
    """Like loss_behind, of each term of a sum that is a loss function times a number; other terms are left out."""
    waiting, found = [(loss.grad_fn, 1.0)], []
    for _ in range(0 if SavedTensors.packed else MOST_BEHIND):  # a sum of sums of itself has a path for each
        if not waiting:
            break
        node, factor = waiting.pop()
        marked = mark_of(node, LOSS)
        if marked is not None:
            found.append((marked[0], factor))
            continue
        before = [n for n, _ in node.next_functions if n is not None]
        step = None
        if node.name() == "AddBackward0" and private.saved(node, "alpha", 1) == 1:
            step = 1.0
        elif len(before) == 1:
            step = 1.0 if mark_of(node, SCALE) is not None else factor_of(node)
        if step is not None:
            waiting += [(n, factor * step) for n in before]
    return found


def scale_behind(loss):
    """The scale that a loss scaler multiplied `loss` by, a tensor of one number; None if none did."""
    if not Scales.seen:
        return None
    node = loss.grad_fn
    for _ in range(AFTER_SCALE):
        if node is None or mark_of(node, LOSS) is not None:
            break
        scale = mark_of(node, SCALE)
        if scale is not None:
            return scale
        node = only_input(node)
    return None


def before_scaling(node):
    """The node that made a number which was then only multiplied, as libraries do before backward."""
    for _ in range(LONGEST_CHAIN):
        before = only_input(node)
        scaled = node.name() in ARRANGING or node.name() in ("MulBackward0", "DivBackward0")
        if mark_of(node, LOSS) is not None or not scaled or before is None:
            break
        node = before
    return node


def maker_of(tensor):
    """The word of MAKERS for what made the numbers of `tensor`, "" for anything else."""
    return made_at(tensor.grad_fn)[0]


def made_twice(tensor, last):
    """Where `last`, a word of MAKERS, made the numbers of `tensor`, the word for what made those that it was
    given, "" for anything else."""
    word, node = made_at(tensor.grad_fn)
    return made_at(only_input(node))[0] if word == last else ""


def made_at(node):
    """The word of MAKERS for what made the numbers that `node` gives, and the node that did; "" and None
    for anything else."""
    for _ in range(LONGEST_CHAIN):
        if node is None:
            break
        name = node.name()
        if name in MAKERS:
            return MAKERS[name], node
        if name not in ARRANGING:
            break
        node = only_input(node)
    return "", None


def normalizer_of(tensor):
    """The node that may have made log-probabilities of `tensor`, close behind it: one that takes a logarithm,
    or of which that is not known; "" if none does."""
    waiting, seen = [tensor.grad_fn], 0
    while waiting and seen < MOST_BEHIND:
        node, seen = waiting.pop(0), seen + 1
        name = "" if node is None else node.name()
        if "log" in name.lower() or name and not NATIVE.search(name):
            return name
        waiting += [] if node is None else [before for before, _ in node.next_functions]
    return ""


def shape_into(node, place):
    shapes = private.shapes_into(node)
    return shapes[place] if place < len(shapes) else None
