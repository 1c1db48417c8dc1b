"""Which targets the outputs of a model can come to, by what made the outputs."""

import math

BINARY = "binary_cross_entropy_with_logits"
# Whose outputs lie between which numbers.
RANGES = {"softmax": (0.0, 1.0), "sigmoid": (0.0, 1.0), "tanh": (-1.0, 1.0), "relu": (0.0, math.inf),
          "log_softmax": (-math.inf, 0.0)}  # fmt: skip
SLACK = 0.01  # of targets at the edge itself
BINARY_SLACK = 0.3  # labels of 1.2 are smoothed on purpose


def range_of(function, maker, compares_numbers):
    """(low, high) that targets may lie between; None where nothing is known of it."""
    if function == BINARY:
        return -BINARY_SLACK, 1 + BINARY_SLACK
    if not compares_numbers or maker not in RANGES:
        return None
    low, high = RANGES[maker]
    return low - SLACK, high + SLACK


def share_outside(target, low, high):
    return ((target < low) | (target > high)).double().mean().reshape(1)
