"""Looks at the numbers that steps work with: an epsilon that outweighs the size of the gradients or that the
precision of the weights rounds to zero, gradients that many micro-batches add up in half precision, and weights
that grow.
"""

import torch

from ..state.optimizers import first_with_gradients
from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand
from .loss_precision import BITS

MOST_PARAMETERS = 4
FEWEST_MICRO_STEPS = 8
SQUARES = ("exp_avg_sq", "square_avg", "sum")  # how torch's optimizers call the size of the gradients
LEAST_ENTRIES = 32  # of a weight whose growth is followed
LEAST_SIZE = 1e-4  # root mean square of a weight that is not zero


class StepArithmetic:
    def __init__(self, guard, recorder, sites, optimizers):
        self.recorder, self.sites, self.optimizers = recorder, sites, optimizers
        self.use = guard.isolated("arithmetic")(self.use)
        self.look = guard.isolated("arithmetic")(self.look)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.sizes = {}  # by thing of a parameter: its size when it was met, and when it was last looked at

    def subscribe(self, moments):
        moments.sampled_gradients_used.append(self.use)
        moments.step_ends.append(self.look)

    def use(self, optimizer, watched):
        count = self.recorder.micro_step
        first = first_with_gradients(optimizer, 1) if self.recorder.sampled and count >= FEWEST_MICRO_STEPS else ()
        if first and first[0].grad.dtype in BITS:
            self.recorder.quantity("half_accumulation", watched.thing, float(count), float(BITS[first[0].grad.dtype]),
                                   self.sites.current())  # fmt: skip

    def look(self, owner):
        """After steps 0, 1, 2, 4, 8 and so on."""
        step = self.recorder.step
        if step & (step - 1) or not tensors.may_compute():
            return
        with tensors.unrecorded():
            for optimizer, watched in self.optimizers.ours():
                if watched.thing == owner:
                    self.look_at_epsilon(optimizer, watched)
                    self.look_at_weights(optimizer, watched)

    def look_at_epsilon(self, optimizer, watched):
        below = entries = 0
        epsilon = 0.0
        for group in optimizer.param_groups:
            epsilon = group.get("eps", 0.0)
            for parameter in group["params"][:MOST_PARAMETERS] if isinstance(epsilon, float) and epsilon > 0 else ():
                squares = squares_of(optimizer, parameter)
                if squares is None:
                    continue
                if squares.dtype in BITS and float(torch.tensor(epsilon, dtype=squares.dtype)) == 0:
                    self.recorder.quantity("epsilon_share", watched.thing, 2.0, epsilon, self.sites.current())
                    return
                used = squares[squares > 0].double()
                below += int((used.sqrt() / correction(optimizer, parameter, group) < epsilon).sum())
                entries += used.numel()
        if entries and below >= 0.99 * entries:
            self.recorder.quantity("epsilon_share", watched.thing, below / entries, epsilon, self.sites.current())

    def look_at_weights(self, optimizer, watched):
        """The factor by which the weight has grown that grew most, and by which it did since the last look."""
        most = None
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if not tensors.is_readable(parameter) or not is_at_hand(parameter) or parameter.dim() < 2:
                    continue
                if parameter.numel() < LEAST_ENTRIES or parameter.is_complex():
                    continue
                thing, size = watched.things.get(parameter, 0), size_of(parameter)
                first, last = self.sizes.get(thing, (size, size))
                self.sizes[thing] = (first, size)
                if thing and first >= LEAST_SIZE and (most is None or size / first > most[1]):
                    most = (thing, size / first, size / last)
        if most is not None and most[1] >= 4:
            self.recorder.quantity("weight_growth", *most)


def size_of(parameter):
    """The root of the mean of the squares of its entries."""
    return float(torch.linalg.vector_norm(parameter.detach(), dtype=torch.float64)) / parameter.numel() ** 0.5


def squares_of(optimizer, parameter):
    """The running mean of the squares of its gradients; None where there is none at hand."""
    state = optimizer.state.get(parameter)
    found = [state[name] for name in SQUARES if name in state] if isinstance(state, dict) else []
    usable = found and tensors.is_readable(found[0]) and is_at_hand(found[0]) and not found[0].is_complex()
    return found[0].detach() if usable else None


def correction(optimizer, parameter, group):
    """By how much Adam and its kin divide the root of that mean, as it began with zero."""
    step, betas = optimizer.state[parameter].get("step"), group.get("betas")
    if step is None or not isinstance(betas, tuple):
        return 1.0
    return max(1 - float(betas[1]) ** float(step), 1e-12) ** 0.5
