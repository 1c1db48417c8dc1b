"""Compares gradients as a backward left them with those that a step uses: whether they were multiplied by a
number in between, which is neither that of clipping nor that of a loss scaler, or the weights were added to them.
"""

import weakref

import torch

from ..state.optimizers import first_with_gradients
from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand

MOST_ENTRIES, NEAR, FEWEST, ALIKE = 1024, 1e-4, 8, 4
ADAPTIVE = ("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adadelta")
DECOUPLED = ("AdamW",)


class GradientFactor:
    def __init__(self, guard, recorder, sites, optimizers, clipping):
        self.recorder, self.sites, self.optimizers, self.clipping = recorder, sites, optimizers, clipping
        self.keep = guard.isolated("factor")(self.keep)
        self.compare = guard.isolated("factor")(self.compare)
        self.unscale = guard.isolated("factor")(self.unscale)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.kept = {}  # by thing of an optimizer: its first parameter, and what its gradient held

    def subscribe(self, moments):
        moments.sampled_backward_ended.append(self.end_backward)
        moments.unscaled.append(self.unscale)
        moments.sampled_gradients_used.append(self.use)

    def unscale(self, thing, scale):
        """What is kept of the gradients of this optimizer is divided as they were, in the same way to the bit."""
        if thing in self.kept and scale.numel() == 1:
            with tensors.unrecorded():
                reference, before = self.kept[thing]
                self.kept[thing] = (reference, before * scale.to(before.device).double().reciprocal().to(before.dtype))
        else:
            self.kept.pop(thing, None)

    def end_backward(self):
        if self.recorder.detailed:
            self.keep()

    def use(self, optimizer, watched):
        kept = self.kept.pop(watched.thing, None)
        if kept is not None and self.recorder.detailed:
            self.compare(optimizer, watched, *kept)

    def keep(self):
        with tensors.unrecorded():
            for optimizer, watched in self.optimizers.ours():
                first = first_with_gradients(optimizer, 1)
                if first and tensors.is_readable(first[0].grad) and is_at_hand(first[0].grad):
                    self.kept[watched.thing] = (weakref.ref(first[0]), entries_of(first[0].grad).clone())

    def compare(self, optimizer, watched, reference, before):
        parameter = reference()
        if parameter is None or id(parameter) in self.clipping.clipped or parameter.grad is None:
            return
        with tensors.unrecorded():
            now = entries_of(parameter.grad)
            if now.shape != before.shape or torch.equal(now, before):
                return
            place = before.abs().argmax()
            factor = float(now[place] / before[place]) if float(before[place]) else 0.0
            # Whatever is done to a single number is a factor.
            many = int(before.count_nonzero()) >= ALIKE
            if many and is_told(factor) and torch.allclose(now, before * factor, rtol=NEAR, atol=0.0):
                self.recorder.quantity("gradient_factor", watched.thing, factor, float(len(self.optimizers.ours())),
                                       self.sites.current())  # fmt: skip
            elif type(optimizer).__name__ in ADAPTIVE:
                self.look_for_decay(optimizer, watched, now - before, entries_of(parameter))

    def look_for_decay(self, optimizer, watched, added, weights):
        """Of what was added to a gradient: whether it is the weights, times one number. An optimizer that divides
        by the size of the gradients divides it, too."""
        size = float(weights @ weights)
        share = float(added @ weights) / size if size else 0.0
        if share > 0 and weights.numel() >= FEWEST and torch.allclose(added, share * weights, rtol=0.01, atol=NEAR * float(added.abs().amax())):
            decouples = float(type(optimizer).__name__ in DECOUPLED)
            self.recorder.quantity("decay_in_gradients", watched.thing, share, decouples, self.sites.current())


def is_told(factor):
    """Above 1, or one over a whole number, as of a mean over micro-batches."""
    parts = 1 / factor if 0 < factor < 1 - NEAR else 0.5
    return factor > 1 + NEAR or abs(parts - round(parts)) < NEAR * parts


def entries_of(gradient):
    return gradient.detach().reshape(-1)[:MOST_ENTRIES]
