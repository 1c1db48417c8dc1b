"""One step after another: keeps the batches of the second, waits until steps agree, and tries one
arrangement after another, each between two steps of the batches as they are.

A library may fetch the batches of a step during the one before; so each arrangement is held for two
steps, of which the second counts.
"""

import sys

from ...state.optimizers import parameters_of
from ...torch_api import tensors
from ..substitution.substitutes import switch_dropout_off
from ..trials.bench import Randomness
from ..trials.run import trains_with_others
from ..zero_lr.other_steps import OtherSteps, loss_of
from .comparisons import Comparisons
from .fetches import Fetches, as_they_are
from .gradients import Gradient, distance
from .order import try_order
from .sizes import try_sizes
from .slope import try_slope
from .split import try_split
from .targets import try_targets
from .unjudged import Unjudged
from .weights import Jitter, Resolution
from .window import Window

TRIALS = {"order": try_order, "split": try_split, "targets": try_targets, "slope": try_slope,
          "sizes": try_sizes}  # fmt: skip
WITHOUT_ROWS = (try_slope, try_split)  # they say themselves what they need
DRAWS = "the steps draw random numbers"
MOST_SETTLING = 6  # steps until two of them agree


class Step:
    """What one step of the program came to."""

    def __init__(self, gradient, calls, calls_before, fetched, drawn):
        self.gradient, self.calls = gradient, calls
        self.calls_before = calls_before  # of each backward call: how many calls came before it
        self.fetched = fetched  # batches of each source
        self.drawn = drawn  # the generators as it left them

    def is_as_long_as(self, other):
        return len(self.calls_before) == len(other.calls_before) and self.fetched == other.fetched

    def first_calls(self):
        """The first call of a loss function before each backward call, and after the one before it."""
        begins = (0, *self.calls_before[:-1])
        return [self.calls[begin] if begin < end else None
                for begin, end in zip(begins, self.calls_before)]  # fmt: skip

    def equals(self, other):
        return self.is_like(other) and self.gradient.equals(other.gradient)

    def is_like(self, other):
        return len(self.calls) == len(other.calls) and all(
            one.is_like(another) for one, another in zip(self.calls, other.calls))


class Held(OtherSteps):
    def __init__(self, watch, ending):
        super().__init__()
        self.watch, self.ending = watch, ending
        self.fetches = Fetches(watch, self.fetched, ending.refuse)
        self.comparisons, self.resolution = Comparisons(watch), Resolution(watch.guard)
        self.window = Window(watch)
        self.optimizer = None  # of the program, once it has stepped
        self.gradient = None  # as the last backward of this step left it
        self.calls_before = []  # each backward of this step
        self.randomness = None  # at the start of every step from the second on
        self.plan = self.steps()
        self.advance = watch.guard.isolated("held", runs_program=True)(self.advance)

    def begin(self):
        switch_dropout_off()
        self.take_over()
        self.fetches.begin()
        self.comparisons.begin()
        self.resolution.begin()
        self.window.begin()
        self.watch.moments.stepped.append(self.end_step)
        self.watch.moments.backward_ended.append(self.watch.guard.isolated("backward")(self.keep_gradient))

    def instead(self, optimizer, args, kwargs):
        own = type(optimizer).step
        if self.watch.guard.elsewhere():
            return own(optimizer, *args, **kwargs)
        if trains_with_others():
            self.ending.refuse("the program trains in several processes")
        if self.optimizer is None:  # what begins at zero has no gradient before it moved once
            self.optimizer = optimizer
            loss = own(optimizer, *args, **kwargs)
            self.advance()
        elif optimizer is not self.optimizer:
            self.ending.refuse("more than one optimizer steps")
        else:
            loss = loss_of(optimizer, args, kwargs)
            self.advance()
            self.watch.steps.skip(optimizer)
        return loss

    def advance(self):
        """As a step ends: what it came to goes into the plan, which says what the next one is to be."""
        if not all(map(tensors.is_plain, self.parameters())):
            self.ending.refuse("the weights are sharded, or are not plain tensors")
        if next(self.plan, "at its end") is not None:
            self.ending.stop()

    def end_step(self):
        """Of any step, also of one that a scaler leaves out."""
        self.gradient, self.comparisons.calls, self.calls_before = None, [], []
        self.fetches.end_step()
        self.window.end_step()
        if self.randomness is not None:
            self.randomness.restore()

    def parameters(self):
        return parameters_of(self.optimizer)

    def keep_gradient(self):
        if self.optimizer is not None and tensors.may_compute():
            self.gradient = Gradient(self.parameters())
            self.calls_before.append(len(self.comparisons.calls))

    def fetched(self):
        """Only what is drawn after the first batch of a step is drawn by the step."""
        first = sum(source.fetched for source in self.fetches.sources) == 1
        if self.fetches.holding and first:
            self.randomness.restore()

    def steps(self):
        """The plan: a generator that yields where the program makes a step."""
        self.randomness = Randomness()
        self.fetches.keeping = True
        yield
        self.fetches.hold()
        self.fetches.ask_loaders()
        self.whole = yield from self.settled()
        self.watch.recorder.attribute(0, "held_order", self.fetches.order())
        if not self.whole.drawn.equals(self.randomness):
            self.watch.recorder.attribute(0, "held_draws", 1)
        try:
            self.rounding = yield from self.jittered()
        except Unjudged as error:
            self.ending.refuse(str(error))
        unarranged = self.fetches.why_not()
        for name, attempt in TRIALS.items():
            try:
                if unarranged and attempt not in WITHOUT_ROWS:
                    raise Unjudged(unarranged)
                found = yield from attempt(self)
                if not (yield from self.arranged(as_they_are)).equals(self.whole):
                    raise Unjudged("the same batches gave a different gradient afterwards")
                self.write(found)
            except Unjudged as error:
                self.watch.recorder.attribute(0, f"untried/{name}", str(error))

    def settled(self):
        """The step that the batches as they are come to, once two of them agree."""
        before = None
        for _ in range(MOST_SETTLING):
            yield
            now = self.seen()
            if before is not None and now.equals(before) and now.gradient.is_finite():
                return now
            before = now
        self.ending.refuse(self.fetches.why_not() or (
            "the same batches give a different or a non-finite gradient each time"))

    def jittered(self):
        with Jitter(self.parameters(), self.resolution.coarsest):
            return (yield from self.arranged(as_they_are))

    def arranged(self, change):
        """The step that the batches come to with `change(number of the source, batch)` for each."""
        self.fetches.arrange(change)
        return (yield from self.second())

    def dealt(self, deal):
        """As `arranged`, with the batches of `deal(source)` for each source."""
        self.fetches.deal(deal)
        return (yield from self.second())

    def second(self):
        """What the second step from here comes to."""
        yield
        complete = self.fetches.are_complete()
        yield
        if not complete and not self.fetches.are_complete():
            raise Unjudged("a step fetched fewer batches than the fixed one")
        now = self.seen()
        if not now.is_as_long_as(self.whole):  # a shorter window ends an epoch
            yield
            now = self.seen()
        if not now.drawn.equals(self.whole.drawn):
            raise Unjudged("the step draws different random numbers under the experiment")
        if not now.gradient.is_finite():
            raise Unjudged("the gradient is not finite under the experiment")
        return now

    def alike(self, change):
        """As `arranged`, where the calls of loss functions can be compared one by one."""
        step = yield from self.arranged(change)
        if not step.is_like(self.whole) or not self.rounding.is_like(self.whole):
            raise Unjudged("the step calls different loss functions under the experiment")
        return step

    def beside(self, step):
        """Triples of calls: as they are, under rounding, in this step."""
        return zip(self.whole.calls, self.rounding.calls, step.calls)

    def without_draws(self):
        """To be called where each sample is to be treated as in any other place."""
        if not self.whole.drawn.equals(self.randomness):
            raise Unjudged(DRAWS)

    def seen(self):
        gradient = self.gradient or Gradient(self.parameters())
        return Step(gradient, self.comparisons.take(), self.calls_before, self.fetches.counts(), Randomness())

    def rounding_of_gradient(self):
        return distance(self.whole.gradient, self.rounding.gradient)

    def write(self, found):
        for quantity, *row in found:
            self.watch.recorder.quantity(quantity, *row)

    def loss_thing(self, number):
        return self.watch.recorder.thing("loss", 0, self.whole.calls[number].function)

    def give_up_at_exit(self, name):
        """For a program that does not bear an arrangement: what was found before it counts."""
        error = getattr(sys, "last_value", None)
        reason = "the program ended" if error is None else f"{type(error).__name__}: {error}"
        self.watch.recorder.attribute(0, f"untried/{name}", reason)
        self.ending.stop()

    def thing(self):
        return self.watch.steps.optimizers.watch(self.optimizer).thing
