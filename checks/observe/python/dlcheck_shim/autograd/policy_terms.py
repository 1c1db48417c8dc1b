"""Finds log-probabilities of chosen actions that are multiplied by something with a gradient of its own: what
weighs an action, as an advantage does, is to be a constant there.
"""

from .chains import LAYERS, SHAPING, is_leaf

CHOOSING = ("GatherBackward0", "IndexBackward0", "SelectBackward0")
# Between a chosen log-probability and its product: arranged, or made a ratio of two policies.
OF_LOGARITHMS = {*SHAPING, "NegBackward0", "ExpBackward0", "ClampBackward0", "ClampBackward1", "StackBackward0",
                 "SubBackward0", "AddBackward0"}  # fmt: skip
# Between what a layer gives and an advantage: sums, differences, and pieces of them.
OF_VALUES = {*SHAPING, "SubBackward0", "AddBackward0", "NegBackward0", "MulBackward0", "DivBackward0",
             "StackBackward0", "CatBackward0", "SelectBackward0", "SliceBackward0", "UnbindBackward0"}  # fmt: skip
MOST_NODES = 64
CONSTANT, GRADED = 1, 2


def weight_of_action(node):
    """CONSTANT where a product has a chosen log-probability on one side, GRADED where values of a layer are on the
    other; None of any other node."""
    if node.name() != "MulBackward0":
        return None
    sides = [before for before, _ in node.next_functions]
    for one, other in (sides, sides[::-1]):
        if one is not None and is_chosen_logarithm(one):
            return GRADED if other is not None and is_value(other) else CONSTANT
    return None


def is_chosen_logarithm(node):
    chosen = False
    for _ in range(MOST_NODES):
        if is_logarithm(node):
            return chosen
        chosen = chosen or node.name() in CHOOSING
        before = [n for n, _ in node.next_functions if n is not None]
        if node.name() not in (*OF_LOGARITHMS, *CHOOSING) or not before:
            return False
        node = before[0]
    return False


def is_logarithm(node):
    """Of probabilities: a log-softmax, or scores without the logarithm of the sum of their exponentials."""
    before = [n.name() for n, _ in node.next_functions if n is not None]
    return node.name() == "LogSoftmaxBackward0" or node.name() == "SubBackward0" and "LogsumexpBackward0" in before


def is_value(node):
    """Whether nothing but arithmetic lies between this and a layer."""
    waiting, met, found = [node], set(), False
    while waiting:
        node = waiting.pop()
        if node is None or node in met or is_leaf(node):
            continue
        met.add(node)
        if node.name() in LAYERS:
            found = True
            continue
        if node.name() not in OF_VALUES or len(met) > MOST_NODES:
            return False
        waiting += [before for before, _ in node.next_functions]
    return found
