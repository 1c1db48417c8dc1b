"""Compares the order of the targets of a loss with the order of the inputs of the same step. Both are looked up where
they come from: in the batch of a loader, or among larger tensors of the program, one with the inputs and one with the
targets. Targets that are the right ones, but in another order, belong to other samples: if the loss is given the
outputs in the order in which the model gave them.
"""

import collections
import weakref

from ..autograd.row_order import in_order_of_model, mark_given
from ..record.rows import has_rows, row_numbers
from ..state.objects_alive import tensors_alive
from ..torch_api import tensors
from .loaders import tensors_of

STEPS = 8  # sampled ones that are compared
FEWEST = 4  # of them, in another order, for anything to be said
LEAST_ROWS, MOST_ROWS = 3, 1024  # of a batch
MOST_FETCHED = 4  # batches of loaders that wait for their step
MOST_SOURCES, MOST_ELEMENTS = 16, 1 << 22  # larger tensors that are looked at, and numbers of each
TELLING = 0.5  # of the targets that another order moves on average

# By row numbers: the inputs of models and, by thing of a loss, the targets; where the loss was; pairs of a loader.
Step = collections.namedtuple("Step", "inputs targets pairs")
Rows = collections.namedtuple("Rows", "numbers width dtype")
Target = collections.namedtuple("Target", "thing numbers width site")


class ReorderedTargets:
    def __init__(self, guard, recorder, sites, loaders):
        self.recorder, self.sites = recorder, sites
        self.fetched, self.gave = guard.isolated("rows")(self.fetched), guard.isolated("rows")(self.gave)
        loaders.on_batch.append(self.fetched)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.batches = collections.deque(maxlen=MOST_FETCHED)  # weak references to the tensors of each
        self.inputs, self.targets = [], []  # of the step under way
        self.steps, self.done = [], False

    def subscribe(self, moments):
        moments.batch_enters.append(self.enters)
        moments.forward_gave.append(self.gave)
        moments.loss_examined.append(self.loss_examined)
        moments.step_ends.append(self.end_step)

    def fetched(self, facts, batch):
        if not self.done:
            self.batches.append([weakref.ref(tensor) for tensor in tensors_of(batch)])

    def enters(self, inputs):
        if self.done or not tensors.may_compute():
            return
        first = next((given for given in inputs if is_batch(given)), None)
        if first is not None:
            with tensors.unrecorded():
                self.inputs.append(Rows(row_numbers(first, MOST_ROWS).tolist(), width_of(first), first.dtype))

    def gave(self, model, output):
        """A model that gives whole numbers, too, may say in which order it took the samples."""
        outputs = list(output) if type(output) in (list, tuple) else [output]
        outputs = [part for part in outputs if tensors.is_plain(part)]
        if not self.done and all(part.is_floating_point() for part in outputs):
            for part in outputs:
                mark_given(part)

    def loss_examined(self, call):
        if self.done or not self.inputs or not is_batch(call.target) or not in_order_of_model(call.output):
            return
        count = len(self.inputs[0].numbers)
        width = call.target.numel() // count
        if width * count == call.target.numel():
            self.targets.append(Target(call.thing, values(call.target, count), width, self.sites.current()))

    def end_step(self, owner):
        if self.done:
            return
        if self.inputs and self.targets:
            with tensors.unrecorded():
                own = self.inputs[0].numbers[0]
                self.steps.append(Step(self.inputs, self.targets, list(self.pairs_of_loaders(own))))
        self.inputs, self.targets = [], []
        if len(self.steps) == STEPS:
            self.done = True
            with tensors.unrecorded():
                self.judge()
            self.steps = []

    def pairs_of_loaders(self, number):
        """(place of each row of inputs, numbers of the targets) for tensors that one batch of a loader has, if
        the inputs have the row of this number."""
        for references in self.batches:
            alive = [tensor for tensor in (reference() for reference in references) if tensor is not None]
            alive = [tensor for tensor in alive if is_batch(tensor)]
            for given in alive:
                places = places_of(given)
                for other in alive if number in places else ():
                    if other is not given and other.shape[0] == given.shape[0]:
                        yield places, values(other, other.shape[0])

    def judge(self):
        orders = [self.order_of(step, step.pairs) for step in self.steps]
        if None in orders:
            pairs = list(self.pairs_of_tensors())
            orders = [self.order_of(step, pairs) if known is None else known for step, known in zip(self.steps, orders)]
        moved, same = [order for order in orders if order], orders.count(0)
        wrong, expected = sum(order.wrong for order in moved), sum(order.expected for order in moved)
        if same == STEPS:
            self.tell(self.steps[0].targets[0], 0, STEPS)
        elif len(moved) >= FEWEST and 3 * same <= len(moved) and wrong >= TELLING * expected:
            self.tell(moved[0].target, wrong, len(moved))

    def tell(self, target, wrong, steps):
        rows = float(len(target.numbers) * steps)
        self.recorder.quantity("reordered_targets", target.thing, float(wrong), rows, target.site)

    def order_of(self, step, pairs):
        """0 where any targets have the order of any inputs, a Moved where they have another one, else None."""
        found = None
        for rows in step.inputs:
            for places, numbers in pairs:
                at = [places.get(number, -1) for number in rows.numbers]
                if min(at) < 0:
                    continue
                right = [numbers[place] for place in at]
                for target in step.targets:
                    if target.numbers == right:
                        return 0
                    if sorted(target.numbers) == sorted(right):
                        found = found or Moved(target, right)
        return found

    def pairs_of_tensors(self):
        """The same for larger tensors of the program, wherever it keeps them."""
        first = self.steps[0]
        widths = {target.width for target in first.targets}
        kinds = {(rows.width, rows.dtype) for rows in first.inputs}
        alive = [tensor for tensor in tensors_alive() if is_source(tensor, 2 * len(first.inputs[0].numbers))]
        given = [t for t in alive if (width_of(t), t.dtype) in kinds][:MOST_SOURCES]
        others = [t for t in alive if width_of(t) in widths][:MOST_SOURCES]
        for tensor in given:
            places = None
            for other in others:
                if other is tensor or other.shape[0] != tensor.shape[0]:
                    continue
                places = places or places_of(tensor)
                if any(number in places for number in first.inputs[0].numbers):
                    yield places, values(other, other.shape[0])


class Moved:
    """Targets in another order than the `right` one."""

    def __init__(self, target, right):
        self.target = target
        self.wrong = sum(given != own for given, own in zip(target.numbers, right))
        counts = collections.Counter(right).values()
        self.expected = len(right) - sum(count * count for count in counts) / len(right)


def is_batch(tensor):
    return tensors.is_readable(tensor) and tensor.is_cpu and has_rows(tensor) and LEAST_ROWS <= tensor.shape[0] <= MOST_ROWS


def is_source(tensor, fewest):
    known = tensors.is_readable(tensor) and tensor.is_cpu and has_rows(tensor)
    return known and tensor.shape[0] >= fewest and tensor.numel() <= MOST_ELEMENTS and not tensor.is_complex()


def width_of(tensor):
    return tensor.numel() // tensor.shape[0]


def places_of(tensor):
    """The place of each row by its number; without rows that are there twice, whose place is not known."""
    numbers = row_numbers(tensor, tensor.shape[0]).tolist()
    counts = collections.Counter(numbers)
    return {number: place for place, number in enumerate(numbers) if counts[number] == 1}


def values(tensor, count):
    """Numbers of the rows of targets, equal where only their type or their axes differ."""
    return row_numbers(tensor.detach().reshape(count, -1).double(), count).tolist()
