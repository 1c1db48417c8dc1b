"""ROW: what a model says of one sample does not depend on the others in the batch, in evaluation mode."""

from .bench import distance, floating
from .blame import ROUNDING, Places, blame
from .changes import can_be_changed, other_values


def try_neighbors(trial):
    """Writes how far the outputs of all other samples move when one sample changes. Applies where a
    loader of the program made the batch, so that the first dimension is known to count samples."""
    size = trial.batch_size
    if not size or size < 2:
        return
    inputs = trial.call.tensors()
    if any(t.dim() == 0 or t.shape[0] != size for t in inputs) or not any(map(can_be_changed, inputs)):
        return trial.give_up("neighbors", "an input has no row per sample")

    def change(tensor):
        if not can_be_changed(tensor):
            return tensor
        changed = tensor.clone()
        changed[0] = other_values(tensor)[0]  # the first: a recurrence along the samples shows it, too
        return changed

    before, again = others(trial.outputs(), size), others(trial.outputs(), size)
    if not before:
        return trial.give_up("neighbors", "no output has exactly one row per sample")
    after = others(trial.outputs(trial.call.changed(change)), size)
    share, rounding = max(map(distance, before, after)), max(map(distance, before, again))
    trial.write("neighbor_sensitivity", share, rounding, mixes(trial, change, size) if share > rounding else 0)


def mixes(trial, change, size):
    """The line of the module in which samples begin to mix. What it makes has all samples in one dimension, which a
    module that takes the time first may not have first."""
    seen, seen_changed = (Places(trial, lambda value: rows_of_others(value, size)) for _ in range(2))
    trial.outputs(look=seen.look)
    trial.outputs(trial.call.changed(change), look=seen_changed.look)
    return blame(trial, "mixes_in", seen, seen_changed, ROUNDING)


def rows_of_others(value, size):
    return [t.narrow(t.shape.index(size), 1, size - 1) for t in floating(value) if t.shape.count(size) == 1]


def others(outputs, size):
    """All rows but the first; an output that compares samples with each other has no rows."""
    return [t[1:] for t in outputs
            if t.dim() > 0 and t.shape[0] == size and size not in t.shape[1:]]  # fmt: skip
