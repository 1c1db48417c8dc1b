"""Numbers that the program logs itself: by `dlcheck.log`, or by `add_scalar` of a SummaryWriter."""

import torch

from ..torch_api import tensors
from ..torch_api.wrapping import followed_by, replace

MOST_NAMES = 256
LONGEST_NAME = 200


class Metrics:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.log = guard.isolated("metric")(self.log)
        self.added = guard.isolated("metric")(self.added)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.names = set()

    def watch_writer(self, module):
        """`module`: one with a class SummaryWriter, of torch or of tensorboardX."""
        replace([getattr(module, "SummaryWriter", None)], "add_scalar", followed_by(self.added))

    def added(self, result, args, kwargs):
        name = args[1] if len(args) > 1 else kwargs.get("tag")
        self.log(name, args[2] if len(args) > 2 else kwargs.get("scalar_value"))

    def log(self, name, value):
        """Of a name that is no text, or a value whose number the program itself would have to work out, nothing."""
        number = number_of(value)
        if number is None or type(name) is not str or not self.recorder.takes_scalars():
            return
        name = name[:LONGEST_NAME]
        if name not in self.names and len(self.names) == MOST_NAMES:
            return
        self.names.add(name)
        self.recorder.quantity("metric", self.recorder.thing("metric", 0, name), number, site=self.sites.current())


def number_of(value):
    if type(value) in (int, float) or type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        return float(value)
    if issubclass(type(value), torch.Tensor) and tensors.is_readable(value) and value.is_cpu and value.numel() == 1:
        with tensors.unrecorded():
            return float(value.detach())
    return None
