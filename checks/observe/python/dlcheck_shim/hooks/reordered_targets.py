"""Compares the order of the targets of a loss with the order of the inputs of the same step. Both are looked up where
they come from: in the batch of a loader, or among larger tensors of the program, one with the inputs and one with the
targets. Those of an autoencoder are its inputs. Targets that are the right ones, but in another order, belong to other samples: if the loss is given the
outputs in the order in which the model gave them.

The program's tensors are looked through once, which takes tens of milliseconds: after a second of training, or
before, where an evaluation begins, a file is written or the run ends.
"""

import collections
import math
import weakref

from ..autograd.row_order import in_order_of_model, mark_given
from ..record.rows import has_rows, looked_at, row_numbers
from ..state.objects_alive import tensors_alive
from ..system import perf_counter
from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand
from .loaders import tensors_of

STEPS = 8  # sampled ones that are compared; all of them must have the targets of one source
FEWEST = 4  # of them, in another order
LONG_ENOUGH = 1.0  # seconds of training, beside which a look through all tensors is short
LEAST_ROWS, MOST_ROWS = 3, 1024  # of a batch
MOST_FETCHED = 4  # batches of loaders that wait for their step
MOST_SOURCES, MOST_ELEMENTS = 16, 1 << 22  # larger tensors that are looked at, and numbers of each
TELLING = 0.5  # of the targets that another order moves on average
SURPRISE = 12.5  # of as many targets of each kind in all steps by chance: the negative logarithm

# By row numbers: the inputs of models, the targets of losses, and pairs of a loader.
Step = collections.namedtuple("Step", "inputs targets pairs")
Rows = collections.namedtuple("Rows", "numbers width dtype values")  # `values`: the numbers they have as targets
Target = collections.namedtuple("Target", "thing numbers width site")
# One tensor with inputs, as the place of each row by its number, and one with the numbers of targets. Of several
# pairs, those of one source have the same name.
Pair = collections.namedtuple("Pair", "source places numbers")


class ReorderedTargets:
    def __init__(self, guard, recorder, sites, loaders):
        self.recorder, self.sites = recorder, sites
        for name in ("fetched", "gave", "look"):
            setattr(self, name, guard.isolated("rows")(getattr(self, name)))
        loaders.on_batch.append(self.fetched)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.batches = collections.deque(maxlen=MOST_FETCHED)  # weak references to the tensors of each
        self.inputs, self.targets = [], []  # of the step under way
        self.steps, self.done = [], False
        self.began, self.orders = None, None  # seconds; what the loaders tell of the steps, until a look tells the rest

    def subscribe(self, moments):
        moments.batch_compared.append(self.enters)
        moments.forward_gave.append(self.gave)
        moments.loss_compared.append(self.loss_examined)
        moments.step_ends.append(self.end_step)
        moments.sampled_stepped.append(lambda: self.orders and perf_counter() - self.began > LONG_ENOUGH and self.look())
        moments.evaluation_batch.append(lambda _: self.orders and self.look())
        moments.saved.append(lambda *_: self.orders and self.look())
        moments.run_ends.append(lambda: self.orders and self.look())

    def fetched(self, facts, batch):
        if not self.done:
            self.batches.append([weakref.ref(tensor) for tensor in tensors_of(batch)])

    def enters(self, inputs):
        if self.done or not tensors.may_compute():
            return
        self.began = self.began or perf_counter()
        first = next((given for given in inputs if is_batch(given)), None)
        if first is not None:
            with tensors.unrecorded():
                self.inputs.append(Rows(row_numbers(first, MOST_ROWS).tolist(), width_of(first), first.dtype,
                                        values(first, len(first))))  # fmt: skip

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
                pairs = [*self.pairs_of_inputs(), *self.pairs_of_loaders(own)]
                self.steps.append(Step(self.inputs, self.targets, pairs))
        self.inputs, self.targets = [], []
        if len(self.steps) == STEPS:
            self.done = True
            self.orders = [orders_in(step, step.pairs) for step in self.steps]
            if {} not in self.orders:
                self.judge()

    def pairs_of_inputs(self):
        """Inputs that are their own targets."""
        for place, rows in enumerate(self.inputs):
            if any(target.width == rows.width for target in self.targets):
                yield Pair(("input", place), places_by(rows.numbers), rows.values)

    def pairs_of_loaders(self, number):
        """Pairs of tensors that one batch of a loader has, if the inputs have the row of this number."""
        for references in self.batches:
            alive = [(place, reference()) for place, reference in enumerate(references)]
            alive = [(place, tensor) for place, tensor in alive if tensor is not None and is_batch(tensor)]
            for place, given in alive:
                places = places_of(given)
                for other_place, other in alive if number in places else ():
                    if other is not given and other.shape[0] == given.shape[0]:
                        yield Pair((place, other_place), places, values(other, other.shape[0]))

    def look(self):
        if not tensors.may_compute():
            return
        with tensors.unrecorded():
            pairs = list(self.pairs_of_tensors())
        self.orders = [found or orders_in(step, pairs) for step, found in zip(self.steps, self.orders)]
        self.judge()

    def judge(self):
        orders, self.orders = self.orders, None
        self.tell_of(orders)
        self.steps = []

    def tell_of(self, orders):
        same = sum(any(order.wrong == 0 for order in found.values()) for found in orders)
        if same == STEPS:
            self.tell(self.steps[0].targets[0], 0, STEPS)
        for source in orders[0]:
            of_source = [found[source] for found in orders if source in found]
            if len(of_source) == STEPS and 3 * same <= STEPS - same and is_another_order(of_source):
                self.tell(of_source[0].target, sum(order.wrong for order in of_source), STEPS)
                return

    def tell(self, target, wrong, steps):
        rows = float(len(target.numbers) * steps)
        self.recorder.quantity("reordered_targets", target.thing, float(wrong), rows, target.site)

    def pairs_of_tensors(self):
        """The same for larger tensors of the program, wherever it keeps them."""
        first = self.steps[0]
        widths = {target.width for target in first.targets}
        kinds = {(rows.width, rows.dtype) for rows in first.inputs}
        alive = [tensor for tensor in tensors_alive() if is_source(tensor, 2 * len(first.inputs[0].numbers))]
        given = [t for t in alive if (width_of(t), t.dtype) in kinds][:MOST_SOURCES]
        others = [t for t in alive if width_of(t) in widths][:MOST_SOURCES]
        for number, tensor in enumerate(given):
            places = None
            for other_number, other in enumerate(others):
                if other is tensor or other.shape[0] != tensor.shape[0]:
                    continue
                places = places or places_of(tensor)
                if any(row in places for row in first.inputs[0].numbers):
                    yield Pair(("tensor", number, other_number), places, values(other, other.shape[0]))


class Order:
    """Targets of a loss, and those of the same rows as the inputs have them in a source: the same ones, `wrong` of
    them elsewhere."""

    def __init__(self, target, right):
        self.target = target
        self.wrong = sum(given != own for given, own in zip(target.numbers, right))
        counts, rows = collections.Counter(right).values(), len(right)
        self.expected = rows - sum(count * count for count in counts) / rows
        # How rarely targets that are drawn from these occur as often as these.
        self.surprise = -math.lgamma(rows + 1) + sum(
            math.lgamma(count + 1) - count * math.log(count / rows) for count in counts)


def orders_in(step, pairs):
    """By source, the order of the first targets of the step that are those of the inputs there."""
    found = {}
    for rows in step.inputs:
        for source, places, numbers in pairs:
            at = [places.get(number, -1) for number in rows.numbers]
            right = [numbers[place] for place in at] if min(at) >= 0 else None
            for target in step.targets if right is not None else ():
                if sorted(target.numbers) == sorted(right):
                    order = Order(target, right)
                    if source not in found or order.wrong == 0:
                        found[source] = order
    return found


def is_another_order(orders):
    moved = [order for order in orders if order.wrong]
    wrong, expected = sum(order.wrong for order in moved), sum(order.expected for order in moved)
    surprise = sum(order.surprise for order in orders)
    return len(moved) >= FEWEST and wrong >= TELLING * expected and surprise >= SURPRISE


def is_batch(tensor):
    return is_known(tensor) and LEAST_ROWS <= tensor.shape[0] <= MOST_ROWS


def is_source(tensor, fewest):
    return is_known(tensor) and tensor.shape[0] >= fewest and tensor.numel() <= MOST_ELEMENTS


def is_known(tensor):
    """Complex numbers are left alone: to make them real would lose a part, and torch warns of it."""
    return tensors.is_readable(tensor) and is_at_hand(tensor) and has_rows(tensor) and not tensor.is_complex()


def width_of(tensor):
    return tensor.numel() // tensor.shape[0]


def places_of(tensor):
    """The place of each row by its number; without rows that are there twice, whose place is not known."""
    return places_by(row_numbers(tensor, tensor.shape[0]).tolist())


def places_by(numbers):
    counts = collections.Counter(numbers)
    return {number: place for place, number in enumerate(numbers) if counts[number] == 1}


def values(tensor, count):
    """Numbers of the rows of targets, equal where only their type or their axes differ. Only what is looked at of a
    row is converted: an input may be a large picture."""
    return row_numbers(looked_at(tensor.detach().reshape(count, -1), count).double(), count).tolist()
