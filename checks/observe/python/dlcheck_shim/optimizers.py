"""What the probe knows of optimizers: their groups, and what each parameter is called in them."""

import weakref

import torch

from .identity import IdentityMap
from .tensors import is_plain

# Copies of weights for one step; a parameter beyond them waits for a later sampled step.
MOST_COPIED_BYTES = 1 << 20
MOST_COPIED_BYTES_ON_DEVICE = 64 << 20


class Watched:
    """One optimizer. Holds no parameter and no gradient alive."""

    def __init__(self, recorder, optimizer, ordinal):
        self.ordinal, self.name = ordinal, f"optimizer#{ordinal}"
        self.thing = recorder.thing("optimizer", ordinal, "")
        recorder.attribute(self.thing, "type", type(optimizer).__name__)
        self.elsewhere = False  # its last step was in a thread that is not watched
        self.groups = []  # things
        self.things = IdentityMap()  # of its parameters
        self.size = -1  # parameters when they were last named
        self.consumed, self.consumed_norms = [], None
        self.before = []  # pairs of a parameter and its value before the step
        self.copied_until = 0  # place of the parameter whose turn to be copied is next


class Optimizers:
    def __init__(self, recorder, models):
        self.recorder, self.models = recorder, models
        self.watched = IdentityMap()
        self.seen = 0  # ordinals are never reused: an optimizer that is gone keeps its records
        recorder.on_fork.append(self.watched.clear)

    def watch(self, optimizer):
        watched = self.watched.get(optimizer)
        if watched is None:
            watched = Watched(self.recorder, optimizer, self.seen)
            self.seen += 1
            self.watched.set(optimizer, watched)
        watched.elsewhere = False
        return watched

    def leave_alone(self, optimizer):
        """It steps in a thread that is not watched, so its gradients are not ours to read."""
        watched = self.watched.get(optimizer)
        if watched is not None:
            watched.elsewhere = True

    def ours(self):
        return [(optimizer, w) for optimizer, w in self.watched.items() if not w.elsewhere]

    def name_parameters(self, optimizer, watched):
        """Gives its parameters their things; again when some were added, and now and then.

        Done as late as the gradients are looked at: a model may first run inside the step's
        closure.
        """
        parameters = parameters_of(optimizer)
        if len(parameters) != watched.size or self.recorder.digests:
            watched.size = len(parameters)
            self.name_all(optimizer, watched)

    def name_all(self, optimizer, watched):
        for index in range(len(watched.groups), len(optimizer.param_groups)):
            name = f"{watched.name}/group#{index}"
            watched.groups.append(self.recorder.thing("group", watched.ordinal, name))
        self.models.describe(self.group_names())
        watched.things.clear()
        for index, group in enumerate(optimizer.param_groups):
            for place, parameter in enumerate(group["params"]):
                known = self.models.parameters.get(parameter)
                thing = known[0] if known else self.orphan(watched, index, place, parameter)
                watched.things.set(parameter, thing)

    def group_names(self):
        names = IdentityMap()
        for optimizer, watched in self.watched.items():
            for index, group in enumerate(optimizer.param_groups):
                for parameter in group["params"]:
                    names.set(parameter, f"{watched.name}/group#{index}")
        return names

    def orphan(self, watched, index, place, parameter):
        """A parameter that is optimized, but belongs to no model that ran."""
        group = f"{watched.name}/group#{index}"
        thing = self.recorder.thing("parameter", 0, f"{group}/{place}")
        self.recorder.attribute(thing, "orphan", 1)
        self.models.describe_one(thing, parameter, "", group)
        return thing


def parameters_of(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"]]


def closure_of(args, kwargs):
    """The closure of a call of `step`; other arguments may stand in its place. `args` begin with
    the optimizer."""
    closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
    return closure if callable(closure) else None


def next_to_copy(watched, parameters):
    """The parameters whose turn it is, as many as fit, so that a step's copies stay small."""
    on_host = not parameters or parameters[0].device.type == "cpu"
    room = MOST_COPIED_BYTES if on_host else MOST_COPIED_BYTES_ON_DEVICE
    chosen, start = [], watched.copied_until
    for turn in range(len(parameters)):
        place = (start + turn) % len(parameters)
        parameter = parameters[place]
        room -= parameter.numel() * parameter.element_size()
        if chosen and room < 0:
            break
        chosen.append(parameter)
        watched.copied_until = (place + 1) % len(parameters)
    return [parameter for parameter in chosen if is_plain(parameter)]


def remember(gradients):
    """What identifies the gradients that a step consumes, without keeping them alive."""
    return [(weakref.ref(g), g._version) for g in gradients]


def rate_of(group):
    """A group's learning rate as a float; None where that would stop an accelerator."""
    rate = group.get("lr")
    if isinstance(rate, torch.Tensor):
        return float(rate) if rate.device.type == "cpu" else None
    return None if rate is None else float(rate)
