"""TARGET: a target supervises the outputs of the sample that it came with.

Which parts of a batch become targets is seen from what moves when rows of one part alone are replaced.
Then the samples are parted into two halves. Where inputs of a half change places among themselves, the
outputs that move belong to it; where its targets do, so do the targets that move. Outputs of one half
alone meet no targets of the other. Targets that stay as they were, as sorted ones do, are replaced by
others of their half instead.
"""

from .batches import with_orders
from .comparisons import change, changed
from .orders import halves, repeated, rotated
from .unjudged import Unjudged

MOST_LEAVES = 6


def try_targets(held):
    """Writes for each loss how many targets are misplaced, of how many that can be told."""
    if not held.whole.calls:
        raise Unjudged("no known loss function was called")
    leaves = held.fetches.leaves()
    if len(leaves) > MOST_LEAVES:
        raise Unjudged("the batches have too many parts")
    sources = {}  # of targets alone: the calls that they reach
    for leaf in leaves:
        step = yield from held.alike(dealt({leaf}, lambda rows: repeated(range(rows), rows)))
        reached = [n for n, (whole, _, after) in enumerate(held.beside(step)) if retargets(whole, after)]
        if reached and not any(moves(*calls).any() for calls in held.beside(step)):
            sources[leaf] = reached
    if not sources:
        raise Unjudged("no part of the batch is used only as the targets of a loss")
    counts = yield from counted(held, set(sources), set(leaves) - set(sources))
    judged = [n for n, (_, told) in enumerate(counts) if told and not is_excused(n, counts, sources)]
    if not judged:
        raise Unjudged("no output belongs to only one half of the samples")
    return [("misplaced_targets", held.loss_thing(number), *counts[number]) for number in judged]


def counted(held, targets, inputs):
    """Of each call, what `misplaced` gives."""
    of_inputs = yield from by_halves(held, inputs, rotated)
    for order in (rotated, repeated):
        of_targets = yield from by_halves(held, targets, order)
        if any(retargets(*calls) for step in of_targets for calls in zip(held.whole.calls, step.calls)):
            break
    steps = [held.whole, held.rounding, *of_inputs, *of_targets]
    return [misplaced(*calls, whole_only=order is rotated)
            for calls in zip(*(step.calls for step in steps))]  # fmt: skip


def by_halves(held, leaves, order):
    """The steps in which rows of the first and of the second half of these leaves are dealt anew."""
    steps = []
    for half in (0, 1):
        step = yield from held.alike(dealt(leaves, lambda rows: order(halves(rows)[half], rows)))
        steps.append(step)
    return steps


def dealt(leaves, order):
    def deal(source, batch):
        return with_orders(batch, lambda number, rows: (
            order(rows) if (source, number) in leaves else range(rows)))  # fmt: skip

    return deal


def moves(whole, rounded, after):
    """bool: positions whose outputs move further than rounding explains."""
    return change(whole.outputs, after.outputs) > change(whole.outputs, rounded.outputs).max()


def retargets(whole, after):
    return bool(changed(whole.targets, after.targets).any())


def misplaced(whole, rounded, inputs, other_inputs, targets, other_targets, whole_only):
    """(targets of one half at outputs of the other alone, outputs that belong to one half). Nothing can
    be told where inputs decide what is compared with what, or targets what the outputs are; nor where
    an output is made of samples of both halves, or, if `whole_only`, a target."""
    if any(retargets(whole, after) for after in (inputs, other_inputs)):
        return 0.0, 0.0
    if any(bool(moves(whole, rounded, after).any()) for after in (targets, other_targets)):
        return 0.0, 0.0
    first, second = (changed(whole.outputs, after.outputs) for after in (inputs, other_inputs))
    of_first, of_second = (changed(whole.targets, after.targets) for after in (targets, other_targets))
    if bool((first & second).any()) or whole_only and bool((of_first & of_second).any()):
        return 0.0, 0.0
    first &= ~moves(whole, rounded, other_inputs)
    second &= ~moves(whole, rounded, inputs)
    wrong = first & of_second & ~of_first | second & of_first & ~of_second
    right = first & of_first | second & of_second
    return float(wrong.sum()), float((wrong | right).sum())


def is_excused(number, counts, sources):
    """True where another loss compares the same targets in place: this one then pairs on purpose."""
    same = {other for reached in sources.values() if number in reached for other in reached}
    return counts[number][0] > 0 and any(counts[n][0] == 0 and counts[n][1] > 0 for n in same)
