"""ROW: what a model says of one sample does not depend on the others in the batch, in evaluation mode."""


from .bench import distance
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
        changed[-1] = other_values(tensor)[-1]
        return changed

    before, again = others(trial.outputs(), size), others(trial.outputs(), size)
    if not before:
        return trial.give_up("neighbors", "no output has exactly one row per sample")
    after = others(trial.outputs(trial.call.changed(change)), size)
    trial.write("neighbor_sensitivity", max(map(distance, before, after)),
                max(map(distance, before, again)))  # fmt: skip


def others(outputs, size):
    """All rows but the last; an output that compares samples with each other has no rows."""
    return [t[:-1] for t in outputs
            if t.dim() > 0 and t.shape[0] == size and size not in t.shape[1:]]  # fmt: skip
