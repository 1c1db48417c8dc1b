"""Runs every trial on every model that trained in a step, as that step ends."""

import torch

from ...torch_api import tensors
from .bench import Bench, Randomness
from .capture import LAST_STEP, Capture
from .counted import try_counted
from .derivatives import Derivatives, try_function
from .dropout import try_dropout
from .future import try_future
from .neighbors import try_neighbors
from .packed import try_packed
from .padding import try_padding
from .predictions import Predictions
from .reference import Reference, try_reference
from .shortened import try_shortened
from .terms import Terms

TRIALS = {
    "counted": try_counted,
    "dropout": try_dropout,
    "future": try_future,
    "neighbors": try_neighbors,
    "packed": try_packed,
    "padding": try_padding,
    "shortened": try_shortened,
}
# Trials whose inputs keep their shapes: each evaluation is given the same random numbers, as a model may toss coins.
SAME_NUMBERS = ("future", "neighbors", "packed", "padding")
UNEVEN = "the model draws other random numbers for other inputs"
NO_NUMBERS = ("counted", "shortened")  # of other shapes: no random numbers are the same for both
DRAWS = "the model draws random numbers in evaluation mode"


class Trial:
    """One model on the bench, with the call it is tried on; results go to its own thing."""

    def __init__(self, recorder, sites, model, call, bench, batch_size=0, earlier=()):
        self.recorder, self.sites, self.model, self.call, self.bench = recorder, sites, model, call, bench
        self.batch_size = batch_size  # of the loader that the batch came from; 0 if there was none
        self.earlier = earlier  # shapes of the inputs of the calls that were tried before
        self.begin("", Randomness())

    def begin(self, name, randomness):
        self.name, self.randomness, self.drawn = name, randomness, None

    def outputs(self, arguments=None, look=None):
        arguments = arguments or (self.call.args, self.call.kwargs)
        if self.name in (*SAME_NUMBERS, *NO_NUMBERS):
            self.randomness.restore()
        outputs = self.bench.outputs(arguments, look)
        if self.name in SAME_NUMBERS:
            drawn = Randomness()
            if self.drawn is not None and not drawn.equals(self.drawn):
                raise RuntimeError(UNEVEN)
            self.drawn = drawn
        elif self.name in NO_NUMBERS and not Randomness().equals(self.randomness):
            raise RuntimeError(DRAWS)
        return outputs

    def write(self, quantity, value, aux, site=0):
        self.recorder.quantity(quantity, self.model.thing, value, aux, site)

    def tell(self, key, value):
        if value:
            self.recorder.attribute(self.model.thing, key, value)

    def give_up(self, trial, reason):
        self.tell(f"untried/{trial}", reason)


def trains_with_others():
    distributed = torch.distributed
    return distributed.is_available() and distributed.is_initialized() and (
        distributed.get_world_size() > 1)  # fmt: skip


class Trials:
    def __init__(self, watch):
        self.watch, self.capture = watch, Capture(watch)
        self.derivatives, self.reference = Derivatives(watch), Reference(watch)
        self.terms = Terms(watch, trains_with_others)
        self.predictions = Predictions(watch)
        self.shapes = {}  # by model, of the inputs of each call that was tried

    def begin(self):
        self.capture.begin()
        self.derivatives.begin()
        self.reference.begin()
        self.terms.begin()
        self.watch.moments.step_ends += [self.terms.rest, self.run_all, self.predictions.look, self.terms.go_on]

    def run_all(self, _):
        """As a step ends, of which everything else was recorded."""
        if self.watch.recorder.step > LAST_STEP:
            for kept in (self.capture, self.derivatives, self.reference):
                kept.take()
            return
        if trains_with_others():  # who may wait for this one meanwhile
            for model in self.capture.take():
                self.watch.recorder.attribute(model.thing, "untried", "the program trains in several processes")
            return
        for model, call in self.capture.take().items():
            if tensors.may_compute():
                with self.watch.guard.resting():
                    self.run(model, call)
        for function, args in self.derivatives.take().items():
            if tensors.may_compute():
                with self.watch.guard.resting(), torch.enable_grad():
                    self.run_function(try_function, function, args)
        for call in self.reference.take():
            if tensors.may_compute():
                with self.watch.guard.resting(), torch.enable_grad():
                    self.run_function(try_reference, call)

    def run(self, model, call):
        randomness = Randomness()
        recorder = self.watch.recorder
        try:
            bench = Bench(call.module)
        except Exception as error:  # whatever a program's own __deepcopy__ raises
            recorder.attribute(model.thing, "untried", f"cannot be copied: {type(error).__name__}")
            return
        earlier = self.shapes.setdefault(model, [])
        trial = Trial(recorder, self.watch.forwards.sites, model, call, bench, self.batch_size(), earlier)
        self.predictions.keep(model, call)
        for name, run in TRIALS.items():
            trial.begin(name, randomness)
            try:
                run(trial)
            except Exception as error:  # the model's own code, on inputs it did not ask for
                trial.give_up(name, f"{type(error).__name__}: {error}")
            finally:
                randomness.restore()
        bench.put_back()
        earlier.append([tuple(tensor.shape) for tensor in call.tensors()])

    def run_function(self, try_it, *what):
        randomness = Randomness()
        try:
            try_it(self.watch.recorder, *what, randomness)
        finally:
            randomness.restore()

    def batch_size(self):
        """Samples in a batch, where a loader put single samples together; else 0."""
        facts, samples = self.watch.loaders.handed_out or (None, 0)
        return samples if facts and facts.stacks and samples == facts.batch_size else 0
