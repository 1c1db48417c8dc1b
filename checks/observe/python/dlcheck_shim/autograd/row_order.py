"""Reads from the graph behind the outputs that a loss is given whether their rows are still in the order in which a
model gave them.
"""

from .loss_graph import ARRANGING, ERRORS, MAKERS, MOST_BEHIND, mark, mark_of

GIVEN = "dlcheck given"
# Nodes that leave each number in its row.
ROWS_KEPT = ARRANGING | ERRORS | set(MAKERS) | {"AddBackward0", "SubBackward0", "LogBackward0", "ExpBackward0",
                                                "ClampBackward1", "LogSigmoidBackward0"}  # fmt: skip


def mark_given(output):
    """`output`: what a model gave."""
    mark(output.grad_fn, GIVEN, True)


def in_order_of_model(tensor):
    """True where nothing but such nodes lies between a tensor and what models gave."""
    waiting, found = [tensor.grad_fn], False
    for _ in range(MOST_BEHIND):
        if not waiting:
            break
        node = waiting.pop()
        if node is None or node.name().endswith("AccumulateGrad"):
            continue
        if mark_of(node, GIVEN):
            found = True
        elif node.name() in ROWS_KEPT:
            waiting += [before for before, _ in node.next_functions]
        else:
            return False
    return found and not waiting
