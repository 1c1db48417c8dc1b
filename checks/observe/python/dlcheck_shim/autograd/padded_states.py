"""Tells whether the last output or the state of a recurrent layer is read after it went over padding. Marks lie in
the nodes of the graph and die with them.
"""

import torch

from ..torch_api import private, tensors
from ..torch_api.on_host import on_host
from .attention_reach import FEWEST_LENGTHS, equal_at_end, padding_of
from .loss_graph import mark, mark_of, only_input
from .rearranged import shape_of, signed

ENDING = "dlcheck ending"
OUTPUTS, STATES = "outputs", "states"
TAKING = {"SelectBackward0": "index", "SliceBackward0": "start"}  # and under which name they keep the position


def mark_ends(thing, given, batch_first, words, output, site):
    """After a call of a recurrent layer. `given`: (batch, time, features), or (time, batch, features); `words`: the
    tokens that were looked up."""
    given = given if batch_first else given.transpose(0, 1)
    if given.shape[0] < FEWEST_LENGTHS or not (given := on_host(given)).is_cpu:
        return
    padding = padding_given(given, words)
    if padding is None:
        return
    outputs, states = output if isinstance(output, tuple) and len(output) == 2 else (output, None)
    found = (thing, int(padding.sum(1).max()), int(padding.any(1).sum()), site)
    if isinstance(outputs, torch.Tensor):
        mark_output(outputs, batch_first, found)
    for state in states if isinstance(states, tuple) else (states,):
        if isinstance(state, torch.Tensor):
            mark(state.grad_fn, ENDING, (STATES, None, found))


def mark_output(outputs, batch_first, found):
    """`found`: what padding_read gives."""
    mark(outputs.grad_fn, ENDING, (OUTPUTS, -2 if batch_first else -3, found))


def padding_given(given, words):
    """(batch, time): where the inputs are padding, which is one token or a row of zeros; None if they have none."""
    for tokens in words:
        if tokens.shape == given.shape[:2] and (tokens := on_host(tokens)).is_cpu:
            return padding_of(tokens)
    if not tensors.is_readable(given):
        return None
    filled = (given.detach() != 0).any(-1)
    padding = equal_at_end(filled, False)
    counts = padding.sum(1).unique()
    if not torch.equal(padding, ~filled) or counts.numel() < FEWEST_LENGTHS:
        return None
    return padding if int(counts.max()) < filled.shape[1] else None


def padding_read(node):
    """(thing of the layer, most positions of padding in a row, rows with padding, site) of a node that gives the
    state of such a layer, or takes its last output; None of any other node."""
    marked = mark_of(node, ENDING)
    if marked is not None and marked[0] == STATES:
        return marked[2]
    place = TAKING.get(node.name())
    before = None if place is None else only_input(node)
    marked = None if before is None else mark_of(before, ENDING)
    shape = None if marked is None or marked[0] != OUTPUTS else shape_of(before)
    if shape is None or len(shape) != 3 or signed(private.saved(node, "dim"), 3) != marked[1]:
        return None
    taken = private.saved(node, place)  # the first position, or the only one
    taken = taken - (1 << 64) if taken >= 1 << 63 else taken
    return marked[2] if taken in (-1, shape[marked[1]] - 1) else None
