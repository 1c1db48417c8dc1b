"""Looks for a loss of which a mask keeps some positions and whose mean then runs over all of them: how much a batch
counts depends on its padding.
"""

import torch

from ..autograd.loss_graph import ARRANGING, LONGEST_CHAIN, MOST_BEHIND, SavedTensors, factor_of, only_input
from ..torch_api import private, tensors
from ..torch_api.on_host import on_host

STEPS, FEWEST_LENGTHS = 3, 3
MOST_LOOKS = 64  # backward calls


class PaddedMeans:
    def __init__(self, guard, recorder, sites, losses):
        self.recorder, self.sites, self.losses = recorder, sites, losses
        self.reached_by = guard.isolated("mean")(self.reached_by)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.kept, self.all, self.steps, self.looks = 0, 0, 0, 0

    def reached_by(self, loss):
        """Before a backward from `loss`."""
        if self.steps == STEPS or self.looks == MOST_LOOKS or SavedTensors.packed:
            return
        self.looks += 1
        mask = mask_of_mean(loss)
        if mask is None or not fills_rows(mask):
            return
        self.kept, self.all, self.steps = self.kept + int(mask.sum()), self.all + mask.numel(), self.steps + 1
        if self.steps == STEPS:
            self.recorder.quantity("padded_mean", self.losses.unnamed(), self.kept / self.all, float(self.all),
                                   self.sites.current())  # fmt: skip


def mask_of_mean(loss):
    """(rows, positions): the mask, of 0 and 1, of a term of the sum `loss` that averages masked numbers; None if
    there is none."""
    waiting = [loss.grad_fn]
    for _ in range(MOST_BEHIND):
        node = waiting.pop() if waiting else None
        if node is None:
            return None
        if node.name() == "MeanBackward0":
            mask = mask_before(only_input(node))
            if mask is not None:
                return mask
        elif node.name() in ("AddBackward0", "SubBackward0"):
            waiting += [n for n, _ in node.next_functions if n is not None]
        elif factor_of(node) is not None:
            waiting.append(only_input(node))
    return None


def mask_before(node):
    for _ in range(LONGEST_CHAIN):
        if node is None or node.name() not in ARRANGING:
            break
        node = only_input(node)
    if node is None or node.name() != "MulBackward0":
        return None
    shapes = private.shapes_into(node)
    for place in ("other", "self"):
        mask = on_host(private.saved(node, place))
        if tensors.is_plain(mask) and not mask.requires_grad and mask.is_cpu and shapes and tuple(mask.shape) == shapes[0]:
            mask = mask.detach().squeeze(-1) if mask.dim() == 3 else mask.detach()
            return mask if mask.dim() == 2 and bool(((mask == 0) | (mask == 1)).all()) else None
    return None


def fills_rows(mask):
    """Whether ones begin all rows of a mask, and zeros fill them up from several lengths on."""
    lengths = mask.sum(1)
    prefix = torch.arange(mask.shape[1])[None, :] < lengths[:, None]
    return torch.equal(prefix, mask.bool()) and lengths.unique().numel() >= FEWEST_LENGTHS
