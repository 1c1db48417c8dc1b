"""Looks whether the positives of a contrastive loss are the two views of one sample. Views may alternate or follow each
other in two halves: where the inputs are alike in the order that the loss does not take, it takes the wrong one.
"""

import weakref

import torch

from ..state.loss_calls import has_one_class_each
from ..torch_api import tensors
from ..torch_api.on_host import on_host

FEWEST_ROWS, MOST_ROWS, MOST_ENTRIES = 16, 1024, 1 << 20  # of a batch; numbers of its inputs
STEPS, MOST_FORWARDS = 3, 16
ALIKE, UNLIKE = 0.9, 0.95  # distances of views and of other samples, as shares of that of two rows
CERTAIN = 6.0  # standard errors


class PairOrder:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.step, self.inputs = -1, []  # weak references to what each forward of the step under way was given
        self.found = {}  # by thing of a loss: distances of its pairs, of the other pairs, and of any, in each step

    def subscribe(self, moments):
        moments.batch_compared.append(self.enter)
        moments.loss_compared.append(self.add)

    def enter(self, inputs):
        if self.step != self.recorder.step:
            self.step, self.inputs = self.recorder.step, []
        rows = next((given for given in inputs if tensors.is_readable(given) and given.is_floating_point()), None)
        if rows is not None and len(self.inputs) < MOST_FORWARDS:
            self.inputs.append(weakref.ref(rows))

    def add(self, call):
        found = self.found.setdefault(call.thing, [])
        if len(found) == STEPS or not has_one_class_each(call) or call.output.dim() != 2:
            return
        count = call.output.shape[0]
        if call.output.shape[1] != count or count % 2 or not FEWEST_ROWS <= count <= MOST_ROWS:
            return
        rows = self.rows_of(count)
        if rows is None or rows.dim() < 2 or rows.numel() > MOST_ENTRIES or not (rows := on_host(rows)).is_cpu:
            return
        target = call.host_target.detach()
        other = other_order(target)
        if other is None:
            return
        values = rows.detach().reshape(count, -1).double()
        found.append([(values - values[order]).norm(dim=1) for order in (target, other, torch.arange(count).roll(2))])
        if len(found) == STEPS and takes_other_order(*(torch.cat(each) for each in zip(*found))):
            self.recorder.quantity("unlike_pairs", call.thing, float(count), 1.0, self.sites.current())

    def rows_of(self, count):
        """The inputs of the only forward of this step that was given so many rows."""
        alive = [given for given in (reference() for reference in self.inputs) if given is not None]
        found = [given for given in alive if given.dim() > 0 and given.shape[0] == count]
        return found[0] if len(found) == 1 else None


def other_order(target):
    """The partner of each row in halves for pairs that alternate, and the reverse; None for others."""
    place = torch.arange(len(target))
    halves, alternating = (place + len(target) // 2) % len(target), place ^ 1
    if torch.equal(target, halves):
        return alternating
    return halves if torch.equal(target, alternating) else None


def takes_other_order(named, other, any_two):
    if not bool((named + other + any_two).isfinite().all()) or float(any_two.mean()) == 0:
        return False
    nearer = any_two - other
    certain = float(nearer.mean()) > CERTAIN * float(nearer.std()) / len(nearer) ** 0.5
    return certain and float(other.mean()) < ALIKE * float(any_two.mean()) < float(named.mean()) * ALIKE / UNLIKE
