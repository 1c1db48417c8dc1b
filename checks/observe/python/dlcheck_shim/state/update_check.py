"""Works sampled steps of an optimizer out again: does each parameter go where the rule takes it, and
how many updates does rounding swallow?"""

import math

import torch

from ..record.sampling import ALWAYS
from ..torch_api import tensors
from .update_rules import rule_of

MOST_PARAMETERS = 4  # of a step; they take turns
MOST_ELEMENTS = 1 << 20
# Roundings of a kernel that works in the type of its weights: moments, quotient, product.
ROUNDINGS = 8
# The square of a larger gradient comes near the end of float32, where Adam's second moment is infinite.
LARGEST_GRADIENT = 1e18


class UpdateCheck:
    def __init__(self, recorder):
        self.recorder = recorder

    def before(self, optimizer, watched):
        """As a step is about to begin, its gradients being there."""
        watched.copies = []
        recorder = self.recorder
        if not recorder.detailed:
            return
        rule = rule_of(optimizer)
        if rule is None or isinstance(getattr(optimizer, "grad_scale", None), torch.Tensor):
            return
        late = recorder.step >= ALWAYS and not recorder.digests
        for group, parameter in self.chosen(optimizer, watched, late):
            state = {key: wide(value) for key, value in optimizer.state.get(parameter, {}).items()}
            copy = (parameter, wide(parameter), wide(parameter.grad), state, dict(group), rule)
            watched.copies.append(copy)

    def chosen(self, optimizer, watched, late):
        """Parameters whose turn it is and that the rule can be worked out for. A rule that held so
        long still holds: `late` only those that rounding may come to swallow updates of."""
        every = [(g, p) for g in optimizer.param_groups for p in g["params"]
                 if not (late and p.dtype not in tensors.HALF) and is_fit(g, p)]  # fmt: skip
        room, found = MOST_ELEMENTS, []
        for turn in range(min(len(every), MOST_PARAMETERS)):
            group, parameter = every[(watched.worked_out + turn) % len(every)]
            room -= tensors.local(parameter).numel()
            if room < 0:
                watched.worked_out += turn + 1  # one that is too large is passed over
                return found
            found.append((group, parameter))
        watched.worked_out += len(found)
        return found

    def after(self, watched):
        copies, watched.copies = watched.copies, []
        for parameter, before, gradient, state, group, rule in copies:
            change = rule(before, gradient, state, group)
            self.write(watched, parameter, before, gradient, change)

    def write(self, watched, parameter, before, gradient, change):
        recorder, at = self.recorder, (self.recorder.step, self.recorder.micro_step)
        after, kind = wide(parameter), torch.finfo(parameter.dtype)
        lost = (change != 0) & (after == before)
        found = [change.norm(), (after - before - change).norm(), after.norm(), lost.sum(), gradient.abs().max()]
        thing, owner = watched.things.get(parameter, 0), watched.thing
        elements = after.numel()

        def use(values):
            size, error, norm, swallowed, largest = values
            # A step of nothing, or of what is not finite, cannot be compared.
            if not size > 0 or not math.isfinite(size) or not math.isfinite(error):
                return
            if largest > LARGEST_GRADIENT:
                return
            rounding = kind.eps * norm / size + ROUNDINGS * kind.eps
            recorder.quantity("update_error", thing, error / size, rounding, owner=owner, at=at)
            share = swallowed / elements
            recorder.quantity("lost_updates", thing, share, float(elements), owner=owner, at=at)

        recorder.transfer.add(torch.stack([f.double() for f in found]), use)


def is_fit(group, parameter):
    gradient = parameter.grad
    return (
        gradient is not None
        and parameter.is_floating_point()
        and tensors.is_held(parameter)
        and not gradient.is_sparse
        and tensors.is_alike(parameter, gradient)
        and tensors.local(parameter).numel() > 0  # a small one may have no part here
        and not isinstance(group["lr"], torch.Tensor)
        and not (parameter.is_cpu and tensors.is_plain(parameter) and parameter.untyped_storage().is_shared())  # others may write it
    )


def wide(value):
    if not isinstance(value, torch.Tensor):
        return value
    value = tensors.local(value.detach())
    return value.to(torch.float64, copy=True) if value.is_floating_point() else value.clone()
