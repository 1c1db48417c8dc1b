"""Finds gradients that were not cleared between two steps of their optimizer.

Looks at the gradients themselves and never at which calls were made: setting them to None, zeroing
them in place and zeroing them through `.data` are all clearing. Cheap where all is well: the test
is whether a parameter still has the same gradient object, unwritten since the step.
"""

import weakref

from ..state.optimizers import parameters_of, with_gradients
from ..torch_api import private, tensors


class Candidate:
    """Gradients that still were what the last step consumed when a backward was about to begin."""

    def __init__(self, owners, gradients, consumed, norms):
        self.gradients = {id(p): weakref.ref(g) for p, g in zip(owners, gradients)}
        self.order, self.consumed, self.looks = list(self.gradients), consumed, [norms]


class Uncleared:
    def __init__(self, recorder, optimizers):
        self.recorder, self.optimizers = recorder, optimizers
        self.candidates = {}  # by the thing of the optimizer
        recorder.moments.begins_anew.append(self.candidates.clear)

    def before_backward(self):
        if not self.candidates and self.all_are_cleared():
            return
        for optimizer, watched in self.optimizers.ours():
            candidate = self.candidates.get(watched.thing)
            if candidate is None and not watched.consumed:
                continue
            if not tensors.may_compute():
                return
            if candidate is not None:
                self.look_again(watched, candidate)
            else:
                self.look(optimizer, watched)

    def all_are_cleared(self):
        """True when nothing is left that a step consumed, which is forgotten then."""
        for _, watched in list(self.optimizers.watched.entries.values()):
            for _, reference, version in watched.consumed:
                if is_unwritten(reference(), version):
                    return False
            watched.consumed = []
        return True

    def look(self, optimizer, watched):
        """The first backward after a step: what does it still hold?"""
        consumed, watched.consumed = watched.consumed, []
        seen = {number: (place, reference, version)
                for place, (number, reference, version) in enumerate(consumed)}  # fmt: skip
        owners, gradients, places = [], [], []
        for parameter in parameters_of(optimizer):
            gradient = parameter.grad
            if gradient is None or id(parameter) not in seen:
                continue
            place, reference, version = seen[id(parameter)]
            if reference() is gradient and is_unwritten(gradient, version):
                owners.append(parameter)
                gradients.append(gradient)
                places.append(place)
        if gradients:
            norms = watched.consumed_norms
            norms = norms[places] if norms is not None else None
            with tensors.unrecorded():
                held = tensors.norms(gradients)
            self.candidates[watched.thing] = Candidate(owners, gradients, norms, held)

    def look_again(self, watched, candidate):
        """A later backward, as in a GAN, where another optimizer's step came between."""
        gradients = [candidate.gradients[number]() for number in candidate.order]
        if any(gradient is None for gradient in gradients):
            del self.candidates[watched.thing]
            return
        with tensors.unrecorded():
            candidate.looks.append(tensors.norms(gradients))

    def confirm(self, watched, owners):
        """The optimizer is about to use the gradients: were they never cleared in between?"""
        candidate = self.candidates.pop(watched.thing, None) if self.candidates else None
        if candidate is None:
            return
        kept = [id(p) in candidate.gradients and candidate.gradients[id(p)]() is p.grad
                for p in owners]  # fmt: skip
        still = {id(p) for p, same in zip(owners, kept) if same}
        if not still:  # cleared since: nothing to read
            return
        held, *later = (look.tolist() for look in candidate.looks)
        consumed = held if candidate.consumed is None else candidate.consumed.tolist()
        count = sum(
            number in still and held[i] != 0 and close(held[i], consumed[i])
            and all(look[i] != 0 for look in later)
            for i, number in enumerate(candidate.order)
        )  # fmt: skip
        if count:
            self.recorder.event("uncleared", watched.thing, float(count), owner=watched.thing)


def is_unwritten(gradient, version):
    """True for a gradient that still lives and was not written since it had that version."""
    return gradient is not None and private.version_of(gradient) == version


def close(one, other):
    """Equal up to the rounding of two ways to sum; true also for two values that are not finite."""
    return not abs(one - other) > 1e-5 * abs(other)


def held_norms(optimizers, recorder, site):
    """Writes what the gradients hold before the first backward after a step."""
    with tensors.unrecorded():
        for optimizer, watched in optimizers.ours():
            owners = with_gradients(optimizer)
            if not owners:
                continue
            things = [watched.things.get(p, 0) for p in owners]
            at = (recorder.step, recorder.micro_step)

            def write(values, things=things, owner=watched.thing, at=at):
                rows = [(thing, value, 0) for thing, value in zip(things, values)]
                recorder.quantities("held_gradient_norm", rows, owner, site, at)

            recorder.transfer.add(tensors.norms([p.grad for p in owners]), write)
