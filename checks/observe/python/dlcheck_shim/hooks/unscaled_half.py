"""Tells of a backward through layers that ran in float16 from a loss that nobody scaled up: small gradients
become zero there.
"""

from ..autograd.loss_graph import SCALE, factor_of, mark_of, only_input

LONGEST_CHAIN, LEAST_FACTOR = 16, 8.0  # of a scale that the program puts on by itself


class UnscaledHalf:
    def __init__(self, guard, recorder, sites, forwards):
        self.recorder, self.sites, self.forwards = recorder, sites, forwards
        self.reached_by = guard.isolated("loss")(self.reached_by)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.told = False

    def reached_by(self, loss):
        """Before a backward from `loss`."""
        if self.told or self.forwards.float16_step != self.recorder.step or is_scaled(loss.grad_fn):
            return
        self.told = True
        model = self.forwards.last_model
        thing = model.thing if model is not None else 0
        self.recorder.quantity("unscaled_half", thing, 1.0, site=self.sites.current())


def is_scaled(node):
    for _ in range(LONGEST_CHAIN):
        if node is None:
            return False
        factor = factor_of(node)
        if mark_of(node, SCALE) is not None or factor is not None and abs(factor) >= LEAST_FACTOR:
            return True
        if factor is None and node.name() == "MulBackward0":  # by a number on an accelerator, perhaps a scale
            return True
        node = only_input(node)
    return False
