"""Numbers that the program logs itself: by `dlcheck.log`, or by the loggers of other libraries."""

import threading

import torch

from ..loggers import LOGGERS
from ..torch_api import tensors
from ..torch_api.capabilities import is_compiling
from ..torch_api.wrapping import Around, replace

MOST_NAMES = 256
LONGEST_NAME = 200
LARGEST = 10**300  # of integers


class Metrics:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.inside = threading.local()  # `.it`: in a logger that may call another one
        self.log = guard.isolated("metric")(self.log)
        self.given = guard.isolated("metric")(self.given)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.names = set()

    def watch_loggers(self, module):
        for class_name, method, *shape in LOGGERS[module.__name__]:
            replace([getattr(module, class_name, None)], method, self.around(*shape))

    def around(self, kind, place, names):
        """Of loggers that call each other, the outermost one is listened to: that has the program's own names."""

        def before(args, kwargs):
            if is_compiling() or getattr(self.inside, "it", False):
                return None
            self.inside.it = True
            return args, kwargs

        def after(token, result):
            self.given(kind, place, names, *token)

        def ended(token):
            self.inside.it = False

        return Around(before, after, ended)

    def given(self, kind, place, names, args, kwargs):
        if kind == "pair":
            self.log(*(argument(args, kwargs, place + i, name) for i, name in enumerate(names)))
            return
        many = argument(args, kwargs, place, names)
        if kind == "dict" and type(many) is dict:
            for name, value in list(many.items())[:MOST_NAMES]:
                self.log(name, value)
        elif kind == "list" and type(many) in (list, tuple):
            for metric in many[:MOST_NAMES]:
                if type(metric).__module__ == "mlflow.entities.metric":
                    self.log(metric.key, metric.value)

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


def argument(args, kwargs, place, name):
    return args[place] if len(args) > place else kwargs.get(name)


def number_of(value):
    if type(value) is float or type(value) is int and abs(value) < LARGEST:
        return float(value)
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0 and value.dtype.kind in "fiu":
        return float(value)
    if issubclass(type(value), torch.Tensor) and tensors.is_readable(value) and value.is_cpu and value.numel() == 1:
        with tensors.unrecorded():
            return float(value.detach())
    return None
