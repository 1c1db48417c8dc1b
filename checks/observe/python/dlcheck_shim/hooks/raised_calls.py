"""Counts forwards, losses and backward calls that raised an error although training goes on: a caught error
leaves a batch out.
"""

import sys
import threading

import torch

from ..torch_api import private
from ..torch_api.attributes import attribute


class RaisedCalls:
    def __init__(self, guard, recorder):
        self.recorder = recorder
        self.tell = guard.isolated("raised", asks_tensors=False)(self.tell)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.under_way = {}  # by kind of call: the thread that made one which has not ended
        self.counts, self.told = {}, {}

    def subscribe(self, moments):
        moments.stepped.append(self.end_step)

    def begins(self, kind, functions):
        """`kind`: "loss" or "backward"; `functions`: those that make such calls. One of another may go on inside
        it, as where a subclass of Tensor hands a call on."""
        thread = threading.get_ident()
        if self.under_way.get(kind) == thread and calls_on_stack(functions()) == 1:
            self.add(kind)
        self.under_way[kind] = thread

    def returns(self, kind):
        self.under_way[kind] = 0

    def forward_again(self):
        """The outermost module is called although its last call did not end: it raised, if it is not called
        by itself."""
        if calls_on_stack([getattr(torch.nn.Module, private.CALL)]) == 1:
            self.add("forward")

    def add(self, kind):
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def end_step(self):
        if self.counts != self.told:
            self.tell()

    def tell(self):
        for kind, count in self.counts.items():
            if count != self.told.get(kind):
                thing = self.recorder.thing("call", 0, kind)
                self.recorder.quantity("raised_calls", thing, float(count))
        self.told = dict(self.counts)


def calls_on_stack(functions):
    """How many calls of these functions this thread is in."""
    codes = [attribute(function, "__code__") for function in functions]
    frame, count = sys._getframe(1), 0
    while frame is not None:
        count += frame.f_code in codes
        frame = frame.f_back
    return count
