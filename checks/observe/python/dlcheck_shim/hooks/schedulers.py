"""Watches learning-rate schedulers: for how many moves each is made, and how often it moved."""

import torch

from ..record.identity import IdentityMap
from ..state.optimizers import rate_of
from ..torch_api import private
from ..torch_api.attributes import attribute
from ..torch_api.wrapping import Around, followed_by, replace

# Attributes that hold the number of moves after which a scheduler is at its end.
HORIZONS = ("T_max", "T_0", "total_steps", "total_iters")
# What a schedule does after them, if it does not end.
RISES_AGAIN, NO_END, RESTARTS, STAYS = 1.0, 2.0, 3.0, 4.0
AFTER = {"T_max": RISES_AGAIN, "T_0": RESTARTS, "milestones": STAYS}


class Schedulers:
    def __init__(self, guard, recorder, sites, optimizers, plateaus):
        self.guard, self.recorder, self.sites, self.plateaus = guard, recorder, sites, plateaus
        self.optimizers = optimizers
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.known = IdentityMap()  # [thing, moves, class name]; thing 0: not told yet
        self.lines = IdentityMap()  # that built them
        self.seen, self.depth, self.untold = 0, 0, False
        # Whether the last step was left out by a scaler; how many were, and how many of these a scheduler counted.
        self.held, self.left_out, self.counted = False, 0, 0

    def watch_all(self):
        observe = self.guard.isolated("schedule")
        self.built, self.moved = observe(self.built), observe(self.moved)
        for scheduler in scheduler_classes():
            own = vars(scheduler)
            if "step" in own:
                replace([scheduler], "step", Around(self.begins, self.returns, self.ends))
            if "__init__" in own:
                replace([scheduler], "__init__", followed_by(lambda _, args, __: self.built(args)))
            if "load_state_dict" in own:
                replace([scheduler], "load_state_dict", followed_by(observe(self.loaded)))

    def subscribe(self, moments):
        moments.gradients_used.append(self.use)
        moments.step_held_back.append(self.hold)

    def use(self, optimizer, watched):
        self.held = False
        self.tell()

    def hold(self):
        self.held, self.left_out = True, self.left_out + 1

    def built(self, args):
        """The attributes of a class may be set after those of its base: told at the next step."""
        if args[0] not in self.known:
            self.known.set(args[0], [0, 0])
            self.lines.set(args[0], self.sites.caller())
            self.untold = True

    def tell(self):
        """Writes the schedulers that are new, as an optimizer is about to step."""
        if not self.untold:
            return
        self.untold = False
        inner = {id(s) for scheduler, _ in self.known.items() for s in parts_of(scheduler)}
        for scheduler, entry in self.known.items():
            if entry[0] == 0 and id(scheduler) not in inner:
                self.tell_one(scheduler, entry)

    def tell_one(self, scheduler, entry):
        recorder, owner = self.recorder, self.owner_of(scheduler)
        entry[0] = recorder.thing("scheduler", self.seen, type(scheduler).__name__)
        self.seen += 1
        line = self.lines.get(scheduler)
        recorder.event("scheduler", entry[0], *length_of(scheduler), owner=owner, always=True,
                       site=self.sites.site(*line) if line else 0)

    def owner_of(self, scheduler):
        optimizer = attribute(scheduler, "optimizer")
        return 0 if optimizer is None else self.optimizers.watch(optimizer).thing

    # Parts of a composed scheduler move inside its own step, and are not told apart.

    def begins(self, args, kwargs):
        if self.guard.elsewhere():
            return None
        self.depth += 1
        if isinstance(args[0], torch.optim.lr_scheduler.ReduceLROnPlateau):
            self.plateaus.add(args[0], args, kwargs)
        return args[0]

    def returns(self, scheduler, result):
        if self.depth == 1:
            self.moved(scheduler)

    def ends(self, scheduler):
        self.depth -= 1

    def moved(self, scheduler):
        if is_built(scheduler):
            return
        entry = self.known.get(scheduler)
        if entry is None:
            self.known.set(scheduler, entry := [0, 0])
        entry[1] += 1
        if self.held:
            self.held, self.counted = False, self.counted + 1
            self.recorder.quantity("counted_anyway", self.recorder.thing("scheduler", 0, type(scheduler).__name__),
                                   float(self.counted), float(self.left_out), self.sites.current(always=True))  # fmt: skip
        if not self.recorder.sampled:
            self.recorder.event("schedule")
            return
        if entry[0] == 0:
            self.tell_one(scheduler, entry)
        optimizer = attribute(scheduler, "optimizer")
        rate = rate_of(optimizer.param_groups[0]) if optimizer is not None else None
        self.recorder.event("schedule", entry[0], rate or 0.0, float(entry[1]),
                            site=self.sites.current(), owner=self.owner_of(scheduler))  # fmt: skip

    def loaded(self, result, args, kwargs):
        self.built(args)
        entry = self.known.get(args[0])
        if entry[0] == 0:
            self.tell_one(args[0], entry)
        self.recorder.event("loaded", entry[0], site=self.sites.current(True), always=True)


def scheduler_classes():
    home = torch.optim.lr_scheduler
    found = dict.fromkeys(c for c in vars(home).values() if isinstance(c, type))
    return [c for c in found if c.__module__ == home.__name__]


def parts_of(scheduler):
    parts = attribute(scheduler, private.PARTS, ())
    return parts if isinstance(parts, (list, tuple)) else ()


def is_built(scheduler):
    """A scheduler's first step is its own, made as it is built. Torch before 2.11 tells it by a count alone,
    which CosineAnnealingWarmRestarts never raises."""
    initial = attribute(scheduler, private.IS_INITIAL, None)
    return attribute(scheduler, private.STEP_COUNT, 2) < 2 if initial is None else initial


def length_of(scheduler):
    """The value and aux of the event "scheduler"."""
    period = attribute(scheduler, "step_size")
    if isinstance(scheduler, torch.optim.lr_scheduler.StepLR) and isinstance(period, (int, float)):
        return float(period), NO_END
    after = next((kind for name, kind in AFTER.items() if attribute(scheduler, name) is not None), 0.0)
    return float(horizon_of(scheduler)), after


def horizon_of(scheduler):
    """After how many moves a scheduler is at its end; 0 if it has none that can be read."""
    for name in HORIZONS:
        value = attribute(scheduler, name)
        if isinstance(value, (int, float)):
            return value
    milestones = attribute(scheduler, "milestones") or attribute(scheduler, private.MILESTONES)
    parts = parts_of(scheduler)
    if milestones and parts:
        last = horizon_of(parts[-1])
        return max(milestones) + last if last else 0
    if milestones:
        return max(milestones)
    for function in attribute(scheduler, "lr_lambdas") or ():
        planned = attribute(function, "keywords", {}).get("num_training_steps")
        if isinstance(planned, int):
            return planned
    return 0
