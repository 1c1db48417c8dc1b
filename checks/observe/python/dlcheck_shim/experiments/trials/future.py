"""CAUSAL: a model that is trained to give the next token may not see it. When later tokens change, the
outputs at earlier positions stay."""

import torch

from ...state.tokens import sequences, shift_of
from .bench import distance, floating
from .blame import Places, blame
from .changes import other_values

QUANTITIES = {1: "future_sensitivity", 0: "copied_future_sensitivity"}  # by the shift of the targets


def try_future(trial):
    """Writes how far early outputs move. Applies where the targets of a loss are the tokens of an input,
    one position ahead; where they are those very tokens, a model that sees no later ones has nothing to
    learn from them, and that is written instead."""
    tokens, shift = tokens_and_shift(trial.call)
    if shift not in QUANTITIES:
        return
    half = tokens.shape[1] // 2

    def change(tensor):
        if tensor.shape != tokens.shape or not torch.equal(tensor, tokens):
            return tensor
        changed = tensor.clone()
        changed[:, half:] = other_values(tensor)[:, half:]
        return changed

    seen, seen_changed = (Places(trial, lambda value: early(value, tokens, half)) for _ in range(2))
    outputs = trial.outputs(look=seen.look)
    before = early(outputs, tokens, half)
    if not before:
        return trial.give_up("future", "no output has a position per token")
    again = early(trial.outputs(), tokens, half)
    changed = trial.outputs(trial.call.changed(change), look=seen_changed.look)
    after = early(changed, tokens, half)
    rounding = max(map(distance, before, again))
    share = max(map(distance, before, after))
    if not any(map(differ, at_positions(outputs, tokens), at_positions(changed, tokens))):
        return trial.give_up("future", "the outputs do not depend on the input that contains the targets")
    if shift == 0 and not any(map(differ, own(outputs, tokens, half), own(changed, tokens, half))):
        return trial.give_up("future", "no output depends on the token at its own position: the model shifts its input")
    leaks = shift == 1 and share > rounding
    site = blame(trial, "leaks_in", seen, seen_changed, rounding) if leaks else 0
    trial.write(QUANTITIES[shift], share, rounding, site)


def tokens_and_shift(call):
    """The first input whose tokens are targets too, and by how many positions the targets run ahead."""
    for tokens in sequences(call.tensors()):
        for targets, ignored in call.targets:
            shift = shift_of(tokens, targets.to(tokens.device), ignored)
            if shift is not None:
                return tokens, shift
    return None, None


def at_positions(value, tokens):
    """The outputs that have a position for each token of each sample."""
    return [t for t in floating(value) if t.dim() >= 2 and t.shape[:2] == tokens.shape]


def early(value, tokens, half):
    """Their first positions."""
    return [t[:, :half] for t in at_positions(value, tokens)]


def own(value, tokens, half):
    """Their outputs at the first position whose token is changed."""
    return [t[:, half] for t in at_positions(value, tokens)]


def differ(one, other):
    return not torch.equal(one, other)
