"""PAD: targets at padded positions are left out of a loss."""

import torch

from ...state.tokens import is_sequence
from .documents import starts_of
from .padding import padded_tokens


def try_counted(trial):
    """Writes how many targets of a loss stand at padding, of how many. Applies where the loss is one
    number of which every target is a part, and there is one for each token of the only text."""
    inputs = trial.call.tensors()
    tokens, padded = padded_tokens(inputs)
    if padded is None:
        return
    for (target, _), all_count in zip(trial.call.targets, trial.call.all_count):
        if target.numel() == tokens.numel():
            if any(is_other_text(t, tokens, target) for t in inputs):
                return
            many = all_count and int(padded.sum(1).max()) > 1  # an end of a text is marked once
            trial.write("counted_padding", float(padded.sum()) * many, float(target.numel()))
            return


def is_other_text(tensor, tokens, target):
    """True for tokens that the targets may belong to instead."""
    if tensor.shape != tokens.shape or not is_sequence(tensor) or tensor.unique().numel() <= 2:
        return False
    if starts_of(tensor, tokens) is not None:  # it marks documents
        return False
    return not torch.equal(tensor, tokens) and not torch.equal(tensor.flatten(), target.flatten())
