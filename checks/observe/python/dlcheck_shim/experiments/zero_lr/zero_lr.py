"""The experiment zero_rate: every rate that an optimizer finds in its groups is 0, from the first step on,
and stays so between steps, for what the program scales by it there.

Dropout is off, so that steps are alike. At one step, each optimizer also steps on trial at another rate.
"""

import torch

from ...hooks.schedulers import scheduler_classes
from ...record.identity import IdentityMap
from ...torch_api import private
from ...torch_api.wrapping import followed_by, replace
from ..substitution.substitutes import switch_dropout_off
from .other_steps import OtherSteps
from .resting import SETTLING, STEPS, Resting
from .trial_steps import rate_is_unread

# Why an optimizer is left at its own rate.
OWN_STEPS = {
    torch.optim.Rprop: "the rate is only where the step sizes of Rprop begin",
    torch.optim.LBFGS: "LBFGS looks along a line for the length of its steps",
}


class ZeroRate(OtherSteps):
    def __init__(self, watch, ending):
        super().__init__()
        self.watch, self.ending, self.stepping = watch, ending, False
        self.resting = IdentityMap()  # by optimizer
        self.step_alone = watch.guard.isolated("zero_rate", runs_program=True)(self.step_alone)

    def begin(self):
        switch_dropout_off()
        self.take_over()
        replace([torch.optim.Optimizer], "load_state_dict", followed_by(self.loaded))
        for scheduler in scheduler_classes():
            if "step" in vars(scheduler):
                replace([scheduler], "step", followed_by(self.scheduled))

    def made(self, optimizer):
        still(optimizer)

    def scheduled(self, _, args, __):
        optimizer = getattr(args[0], "optimizer", None)
        if isinstance(optimizer, torch.optim.Optimizer):
            still(optimizer)
            private.set_last_lr(args[0], [0.0] * len(optimizer.param_groups))

    def loaded(self, _, args, __):
        """Its state may hold rates of before, as a velocity does; libraries load one that is empty."""
        if args[0].state:
            self.resting_of(args[0]).give_up("the optimizer's state was loaded from a file")

    def resting_of(self, optimizer):
        resting = self.resting.get(optimizer)
        if resting is None:
            resting = Resting(self.watch, optimizer)
            self.resting.set(optimizer, resting)
        return resting

    def instead(self, optimizer, args, kwargs):
        own = type(optimizer).step
        still(optimizer)
        # An optimizer may call another in the middle of its step.
        if self.stepping:
            return own(optimizer, *args, **kwargs)
        resting = self.resting_of(optimizer)
        if self.watch.guard.elsewhere():
            self.give_up_all("its optimizers step in several threads")
            return own(optimizer, *args, **kwargs)
        self.look_at_class(optimizer, resting)
        resting.before(optimizer)
        self.stepping = True
        try:
            if resting.steps == SETTLING and not args and not kwargs:
                self.step_alone(optimizer, resting)
            return own(optimizer, *args, **kwargs)
        finally:
            self.stepping = False
            resting.after(optimizer)
            if all(resting.steps >= STEPS for _, resting in self.resting.items()):
                self.ending.stop()

    def look_at_class(self, optimizer, resting):
        """What one optimizer moves at a rate of its own may be another's too."""
        reason = why_own_steps(optimizer)
        if reason is not None:
            self.give_up_all(reason)
        if not all(map(has_rate, optimizer.param_groups)):
            resting.give_up("a parameter group has no learning rate")

    def give_up_all(self, reason):
        for _, resting in self.resting.items():
            resting.give_up(reason)

    def step_alone(self, optimizer, resting):
        try:
            unread = rate_is_unread(self.watch.guard, optimizer)
        except Exception:  # of the program's own code, called out of turn
            return
        if unread is not None:
            self.watch.recorder.quantity("unread_rate", resting.thing, float(unread))


def why_own_steps(optimizer):
    """None for an optimizer whose steps go by its rate."""
    return next((why for kind, why in OWN_STEPS.items() if isinstance(optimizer, kind)), None)


def has_rate(group):
    return group.get("lr") is not None


def still(optimizer):
    """Puts 0 in the place of every rate; into a tensor of rates, as others may hold it."""
    if why_own_steps(optimizer) is not None:
        return
    for group in filter(has_rate, optimizer.param_groups):
        if isinstance(group["lr"], torch.Tensor):
            with torch.no_grad():
                group["lr"].zero_()
        else:
            group["lr"] = 0.0
