"""PAD: how much padding a row has does not matter to its outputs. Alone and without its padding, it gets
the same ones as in its batch."""

import torch

from .bench import distance, floating
from .padding import padded_tokens


def try_shortened(trial):
    """Writes how far the outputs of the row with the most padding move when that is cut off. Applies
    where padding follows the tokens and batches were seen to be of different lengths: where all are of
    one, a model may count on it."""
    inputs = trial.call.tensors()
    tokens, padded = padded_tokens(inputs)
    if padded is None or not torch.equal(padded.cummax(1).values, padded):
        return
    growing = growing_dimensions(inputs, tokens, trial.earlier)
    if not growing or tokens.shape[0] == tokens.shape[1]:
        return
    if any(isinstance(n, (int, float)) and not isinstance(n, bool) for n in trial.call.others()):
        return trial.give_up("shortened", "the model also takes numbers, which may be lengths")
    row = Row(trial, tokens, padded, growing)
    whole, again, alone, cut, twice = (
        trial.outputs(), trial.outputs(), row.outputs(), row.outputs(cut=True), row.outputs(2, True))
    outputs = [row.aligned(*several) for several in zip(whole, again, alone, cut, twice)]
    outputs = [several for several in outputs if several]
    if not outputs:
        return trial.give_up("shortened", "no output has a row per sample")
    rounding = max(distance(a, b) for whole, again, alone, cut, twice in outputs
                   for a, b in ((whole, again), (whole, alone), (cut, twice)))  # fmt: skip
    share = max(distance(alone, cut) for _, _, alone, cut, _ in outputs)
    trial.write("length_sensitivity", share, rounding + row.resolution)


def growing_dimensions(inputs, tokens, earlier):
    """(input, dimension) of all that were as long as the tokens in a batch of another length, too; none
    without such a batch."""
    at, found = next(i for i, t in enumerate(inputs) if t is tokens), set()
    shapes = [tuple(t.shape) for t in inputs]
    for before in earlier:
        if [len(s) for s in before] != [len(s) for s in shapes] or before[at][1] == shapes[at][1]:
            continue
        lengths = before[at][1], shapes[at][1]
        found = {(i, d) for i, (a, b) in enumerate(zip(before, shapes)) for d in range(len(b))
                 if (a[d], b[d]) == lengths}  # fmt: skip
    return found


class Row:
    """The row with the most padding, alone; `resolution` is that of the coarsest numbers in the model."""

    def __init__(self, trial, tokens, padded, growing):
        self.trial, self.growing = trial, growing
        self.samples, self.length = tokens.shape
        self.number = int(padded.sum(1).argmax())
        self.left = self.length - int(padded[self.number].sum())
        self.resolution = 0.0

    def outputs(self, copies=1, cut=False):
        """Of a batch of so many copies of this row."""
        positions = iter(range(len(self.trial.call.tensors())))

        def part(tensor):
            number = next(positions)
            for dimension in range(tensor.dim()):
                if cut and (number, dimension) in self.growing:
                    tensor = tensor.narrow(dimension, 0, self.left)
            own = tensor.dim() and tensor.shape[0] == self.samples and (number, 0) not in self.growing
            return torch.cat([tensor[self.number][None]] * copies) if own else tensor

        return self.trial.outputs(self.trial.call.changed(part), self.look)

    def look(self, name, given, made):
        for tensor in floating(made):
            self.resolution = max(self.resolution, torch.finfo(tensor.dtype).eps)

    def aligned(self, whole, again, alone, cut, twice):
        """This row's part of an output in each evaluation, without padding; empty where it has none."""
        if cut.dim() == 0 or (cut.shape[0], twice.shape[0], whole.shape[0]) != (1, 2, self.samples):
            return []
        parts = [whole[self.number], again[self.number], alone[0], cut[0], twice[1]]
        made = [self.shortened(part, cut[0].shape) for part in parts]
        return [] if any(part is None for part in made) else made

    def shortened(self, part, shape):
        for dimension, size in enumerate(shape):
            if part.shape[dimension] != size:
                if (part.shape[dimension], size) != (self.length, self.left):
                    return None
                part = part.narrow(dimension, 0, size)
        return part
