"""Finds ratios of a new and an old policy, which a clamp limits: those that are all exactly 1, because the old
probabilities were computed again, and those that are not 1 before any step was taken, so that both are of one policy.
"""

import torch

from ..torch_api import private, tensors
from ..torch_api.on_host import on_host
from .loss_graph import SavedTensors

CLAMPS = ("ClampBackward0", "ClampBackward1", "ClampMinBackward0", "ClampMaxBackward0")
FEWEST = 8
# How far a ratio may be from 1 through rounding alone; with half precision the batch decides how a product is rounded.
NEAR, NEAR_IN_HALF = 1e-3, 0.1
LEAST_BOUND, MOST_BOUND = 0.3, 3.0  # of a clamp


def clamped_ratios(node, users):
    """The ratios that a node gives, one tensor; None of any other node. `users`: by node, those that take its result."""
    if node.name() != "ExpBackward0" or SavedTensors.packed:
        return None
    if not any(user.name() in CLAMPS for user in users.get(node, ())):
        return None
    ratios = on_host(private.saved(node, "result"))
    return ratios.detach() if tensors.is_plain(ratios) and ratios.is_cpu and ratios.numel() >= FEWEST else None


def are_one(ratios):
    with tensors.unrecorded():
        return torch.equal(ratios, torch.ones_like(ratios))


def apart_from_one(node, users, ratios):
    """How many ratios of a new and an old policy are not 1; 0 of any other exponential."""
    if not is_ratio(node, users[node]):
        return 0
    is_half = any(user.name() == "ToCopyBackward0" for user in users)
    with tensors.unrecorded():
        return int(((ratios - 1).abs() > (NEAR_IN_HALF if is_half else NEAR)).sum())


def is_ratio(node, users):
    """Of a difference from a constant, used with a clamp around 1 and without, as the clipped surrogate is."""
    difference = node.next_functions[0][0]
    if difference is None or difference.name() != "SubBackward0" or all(before is not None for before, _ in difference.next_functions):
        return False
    return any(is_around_one(user) for user in users) and any(user.name() == "MulBackward0" for user in users)


def is_around_one(clamp):
    """Importance weights of another policy are limited on one side alone, and deviations far from 1."""
    low, high = private.saved(clamp, "min", None), private.saved(clamp, "max", None)
    return type(low) in (int, float) and type(high) in (int, float) and LEAST_BOUND <= low < 1 < high <= MOST_BOUND
