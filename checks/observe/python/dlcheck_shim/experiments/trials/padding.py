"""PAD: what stands at padded positions does not matter at the others."""

import torch

from ...state.tokens import sequences
from .bench import distance, floating
from .blame import ROUNDING, Places, blame


def try_padding(trial):
    """Writes how far the outputs at tokens move when the padding is other tokens. Applies where the
    program gives a mask of (batch, positions) that is one value exactly where an input holds one and
    the same token, and that token stands nowhere else."""
    tokens, padded = padded_tokens(trial.call.tensors())
    if padded is not None:
        compare(trial, tokens, padded)


def padded_tokens(inputs):
    """The first input whose padding another one marks, and that as a bool tensor; (None, None) if none."""
    for tokens in sequences(inputs):
        for mask in inputs:
            padded = padding_of(tokens, mask)
            if padded is not None:
                return tokens, padded
    return None, None


def padding_of(tokens, mask):
    """bool (batch, positions), true at the padding; None where the mask does not mark any."""
    if mask is tokens or mask.shape != tokens.shape or mask.unique().numel() != 2:
        return None
    for value in mask.unique():
        padded = mask == value
        held = tokens[padded].unique()
        if held.numel() == 1 and not (tokens[~padded] == held).any() and at_an_end(padded):
            return padded
    return None


def at_an_end(padded):
    """Padding fills a row from one of its ends, and never the whole of it."""
    if padded.all(1).any():
        return False
    right, left = padded.cummax(1).values, padded.flip(1).cummax(1).values.flip(1)
    return torch.equal(right, padded) or torch.equal(left, padded)


def compare(trial, tokens, padded):
    def change(tensor):
        if tensor.shape != tokens.shape or not torch.equal(tensor, tokens):
            return tensor
        values = tokens[~padded]
        others = values[: int(padded.sum())].repeat(-(-int(padded.sum()) // values.numel()))
        return tensor.masked_scatter(padded, others[: int(padded.sum())])

    def kept(outputs):
        return [t[~padded] for t in floating(outputs) if t.dim() >= 2 and t.shape[:2] == tokens.shape]

    before, again = kept(trial.outputs()), kept(trial.outputs())
    if not before:
        return trial.give_up("padding", "no output has a position per token")
    after = kept(trial.outputs(trial.call.changed(change)))
    share, rounding = max(map(distance, before, after)), max(map(distance, before, again))
    site = 0
    if share > rounding:
        seen, seen_changed = Places(trial, kept), Places(trial, kept)
        trial.outputs(look=seen.look)
        trial.outputs(trial.call.changed(change), look=seen_changed.look)
        site = blame(trial, "mixes_padding_in", seen, seen_changed, max(rounding, ROUNDING))
    trial.write("padding_sensitivity", share, rounding, site)
