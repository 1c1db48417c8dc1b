"""MODE: in evaluation mode nothing is dropped. Functions of torch drop as they are told, and by default
they are told to train."""

import torch.nn.functional as F

from .bench import Randomness, distance

FUNCTIONS = (
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout",
)  # fmt: skip


class Calls:
    """Counts, while it is entered, the calls of dropout functions that drop something."""

    def __init__(self):
        self.active, self.functions = 0, set()

    def __enter__(self):
        self.originals = {name: getattr(F, name) for name in FUNCTIONS}
        for name, original in self.originals.items():
            setattr(F, name, self.counting(name, original))
        return self

    def __exit__(self, *error):
        for name, original in self.originals.items():
            setattr(F, name, original)

    def counting(self, name, original):
        def stand_in(input, p=0.5, training=True, inplace=False):
            if training and p > 0:
                self.active += 1
                self.functions.add(name)
            return original(input, p, training, inplace)

        return stand_in


def try_dropout(trial):
    """Writes how far two evaluations of the same batch lie apart, and how many calls of dropout were
    active in one."""
    with Calls() as calls:
        before = trial.outputs()
    if not before:
        return
    randomness = Randomness()
    first = trial.outputs()
    second = trial.outputs()
    randomness.restore()
    if any(map(distance, first, trial.outputs())):
        return trial.give_up("dropout", "an operation is not deterministic")
    trial.write("evaluation_noise", max(map(distance, first, second)), float(calls.active))
    if calls.functions:
        trial.tell("active_dropout", ", ".join(sorted(calls.functions)))
