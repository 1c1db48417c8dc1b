"""Looks whether a loss over pairs of rows counts the pair of each row with itself: its score is then the largest of
the row, and never the target.
"""

import torch

from ..state.loss_calls import has_one_class_each
from ..torch_api import tensors
from ..torch_api.on_host import on_host

FEWEST_ROWS, MOST_ROWS, MOST_LOOKS = 4, 1024, 16
ALIKE = 1e-3  # relative difference of the scores of rows with themselves, which cosines make equal


class OwnPairs:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.looks = {}  # by thing of a loss: how many square scores were looked at
        recorder.moments.begins_anew.append(self.looks.clear)

    def subscribe(self, moments):
        moments.loss_compared.append(self.add)

    def add(self, call):
        looks = self.looks.get(call.thing, 0)
        if looks == MOST_LOOKS or not has_one_class_each(call) or not tensors.is_readable(call.output):
            return
        rows, columns = call.output.shape
        if rows != columns or not FEWEST_ROWS <= rows <= MOST_ROWS:
            return
        output = on_host(call.output)
        if not output.is_cpu:
            return
        self.looks[call.thing] = looks + 1
        if bool((call.host_target == torch.arange(rows)).any()) or not counts_own(output.detach().double()):
            return
        self.looks[call.thing] = MOST_LOOKS
        self.recorder.quantity("own_pairs", call.thing, float(rows), site=self.sites.current())


def counts_own(scores):
    """Whether the scores (rows, rows) are largest on the diagonal, equal there, and smaller elsewhere on average."""
    own = scores.diagonal()
    margin = ALIKE * float(own.abs().max())
    if not bool(own.isfinite().all()) or float(own.max() - own.min()) > margin:
        return False
    return bool((scores.amax(1) <= own + margin).all()) and float(scores.mean()) < float(own.mean()) - margin
