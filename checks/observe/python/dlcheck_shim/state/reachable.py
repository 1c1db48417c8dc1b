"""Which targets the outputs of a model can come to, by what made the outputs."""

import math

import torch

BINARY = ("binary_cross_entropy_with_logits", "binary_cross_entropy")
# Whose outputs lie between which numbers.
RANGES = {"softmax": (0.0, 1.0), "sigmoid": (0.0, 1.0), "tanh": (-1.0, 1.0), "relu": (0.0, math.inf),
          "log_softmax": (-math.inf, 0.0)}  # fmt: skip
SLACK = 0.01  # of targets at the edge itself
BINARY_SLACK = 0.3  # labels of 1.2 are smoothed on purpose


def range_of(function, maker, compares_numbers):
    """(low, high) that targets may lie between; None where nothing is known of it."""
    if function in BINARY:
        return -BINARY_SLACK, 1 + BINARY_SLACK
    if not compares_numbers or maker not in RANGES:
        return None
    low, high = RANGES[maker]
    return low - SLACK, high + SLACK


def write_unreachable(recorder, sites, tell, thing, between, target):
    """Of the loss `thing`; `tell` writes an attribute once."""
    at, count, site = (recorder.step, recorder.micro_step), float(target.numel()), sites.current()

    def write(values):
        share, low, high = values
        recorder.quantity("unreachable_targets", thing, share, count, site, at=at)
        if share > 0:
            tell(thing, "targets", f"{low:.4g} to {high:.4g}")

    recorder.transfer.add(share_outside(target, *between), write)


def share_outside(target, low, high):
    """The share of the elements of a target, the lowest and the highest of them, as one tensor."""
    outside = ((target < low) | (target > high)).double().mean()
    return torch.stack([outside, target.amin().double(), target.amax().double()])
