"""What the probe knows of optimizers: their groups, and what each parameter is called in them."""

import collections
import inspect
import weakref

import torch

from ..record.identity import IdentityMap
from ..torch_api import private
from ..torch_api.tensors import is_held

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
        self.copies, self.worked_out = [], 0  # for the update check, and how many it had so far
        self.frozen = {}  # by thing of a parameter: it did not require a gradient
        self.described = {}  # attributes
        self.stepped, self.keeps_state = False, False
        self.moved_otherwise = False  # its parameters changed, and it made no step


class Optimizers:
    def __init__(self, guard, recorder, models):
        self.guard, self.recorder, self.models = guard, recorder, models
        self.watched = IdentityMap()
        self.latest = IdentityMap()  # by a first parameter: the optimizer that began to train it last
        self.seen = 0  # ordinals are never reused: an optimizer that is gone keeps its records
        recorder.moments.begins_anew += [self.watched.clear, self.latest.clear]

    def watch(self, optimizer):
        watched = self.watched.get(optimizer)
        if watched is None:
            watched = Watched(self.recorder, optimizer, self.seen)
            self.seen += 1
            self.watched.set(optimizer, watched)
            self.recorder.moments.optimizer_named(optimizer, watched.thing)
        return watched

    def leave_alone(self, optimizer):
        """It steps in a thread that is not watched, so its gradients are not ours to read."""
        watched = self.watched.get(optimizer)
        if watched is not None:
            watched.elsewhere = True

    def ours(self):
        """Those whose gradients may be read: where other threads train, those that have made a step in the watched
        one."""
        alone = self.guard.is_alone()
        return [(optimizer, w) for optimizer, w in self.watched.items() if not w.elsewhere and (alone or w.stepped)]

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
        self.describe(optimizer, watched)

    def describe(self, optimizer, watched):
        parameters = parameters_of(optimizer)
        first = self.models.parameters.get(parameters[0]) if parameters else None
        self.tell(watched, watched.thing, "parameters", len(parameters))
        self.tell(watched, watched.thing, "first_parameter", first[1] if first else "")
        if parameters and not watched.stepped:
            self.look_for_predecessor(optimizer, watched, parameters)
        if not watched.stepped:
            self.write_repeated(watched, parameters)
        usual = usual_decay(type(optimizer))
        for thing, group in zip(watched.groups, optimizer.param_groups):
            if group.get("weight_decay", usual) != usual:  # the program chose it
                self.tell(watched, thing, "weight_decay", group["weight_decay"])

    def write_repeated(self, watched, parameters):
        """Parameters that the optimizer has more than once: each step moves them as often."""
        for parameter, times in repeated(parameters):
            thing = watched.things.get(parameter, 0)
            self.recorder.quantity("listed_twice", thing, float(times), owner=watched.thing)

    def look_for_predecessor(self, optimizer, watched, parameters):
        """Before its first step: does it train, without any state, what another one like it trained with
        some?"""
        kind = (type(optimizer), tuple(map(id, parameters)))
        before, kind_before = self.latest.get(parameters[0]) or (watched, None)
        self.latest.set(parameters[0], (watched, kind))
        if before is not watched and kind == kind_before and before.keeps_state and not optimizer.state:
            self.recorder.attribute(watched.thing, "replaces", before.ordinal)
            self.recorder.attribute(watched.thing, "first_step", self.recorder.step)

    def look_for_state(self, optimizer, watched):
        """After its first step: does it remember anything of its parameters?"""
        if watched.stepped:
            return
        watched.stepped = True
        held = (value for state in optimizer.state.values() if isinstance(state, dict)
                for value in state.values())  # fmt: skip
        if any(isinstance(value, torch.Tensor) and value.numel() > 1 for value in held):
            watched.keeps_state = True
            self.recorder.attribute(watched.thing, "stateful", 1)

    def tell(self, watched, thing, key, value):
        if value != "" and watched.described.get((thing, key)) != value:
            watched.described[thing, key] = value
            self.recorder.attribute(thing, key, value)

    def look_for_rate_beside(self, optimizer, watched):
        """A rate put on one of torch's own optimizers where none of them looks for it."""
        beside = vars(optimizer).get("lr")
        if not type(optimizer).__module__.startswith("torch.optim") or not isinstance(beside, (int, float)):
            return
        if all(rate_of(group) not in (None, beside) for group in optimizer.param_groups):
            self.tell(watched, watched.thing, "rate_beside", beside)

    def look_for_frozen(self, optimizer, watched):
        """Writes the parameters whose `requires_grad` was switched since the last look."""
        for parameter in parameters_of(optimizer):
            thing, frozen = watched.things.get(parameter, 0), not parameter.requires_grad
            if watched.frozen.get(thing, frozen) != frozen:
                event = "frozen" if frozen else "thawed"
                self.recorder.event(event, thing, owner=watched.thing)
            watched.frozen[thing] = frozen

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


def usual_decay(optimizer_class):
    """The weight decay of an optimizer that is asked for none in particular."""
    try:
        usual = inspect.signature(optimizer_class).parameters["weight_decay"].default
    except (KeyError, ValueError, TypeError):
        return 0
    return 0 if usual is inspect.Parameter.empty else usual


def parameters_of(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"]]


def repeated(parameters):
    """(parameter, how often it is there) of those that are there more than once."""
    times = collections.Counter(map(id, parameters))
    if len(times) == len(parameters):
        return []
    return [(p, times[id(p)]) for p in {id(p): p for p in parameters}.values() if times[id(p)] > 1]


def with_gradients(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


def first_with_gradients(optimizer, most):
    found = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                found.append(parameter)
                if len(found) == most:
                    return found
    return found


def closure_of(args, kwargs):
    """The closure of a call of `step`; other arguments may stand in its place. `args` begin with
    the optimizer."""
    closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
    return closure if callable(closure) else None


def next_to_copy(watched, parameters):
    """The parameters whose turn it is, as many as fit, so that a step's copies stay small."""
    on_host = not parameters or parameters[0].is_cpu
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
    return [parameter for parameter in chosen if is_held(parameter)]


def remember(owners):
    """What identifies the gradients that a step consumes, without keeping them alive: ids of their
    parameters, references and versions."""
    return [(id(p), weakref.ref(g), private.version_of(g)) for p in owners for g in (p.grad,)]


def rate_of(group):
    """A group's learning rate as a float; None where that would stop an accelerator."""
    rate = group.get("lr")
    if isinstance(rate, torch.Tensor):
        return float(rate.detach()) if rate.is_cpu else None
    return None if rate is None else float(rate)
