"""Counts how often the program itself makes the host wait for an accelerator, by reading numbers of a
tensor that lies there.

Methods of tensors are replaced only once an optimizer steps on an accelerator, and only in sampled
steps. Where a class or a mode of the program is told which method was called, it is told the original.
"""

import contextlib
import sys

import torch

from ..record.sites import OURS, kind_of
from ..torch_api import private, tensors
from ..torch_api.capabilities import is_compiling

READING = ("item", "tolist", "cpu", "to", "__bool__", "__float__", "__int__", "__index__",
           "__complex__", "__format__", "__repr__")  # fmt: skip
HOST = ("cpu", "meta")


def on_accelerator(tensor):
    return tensor.device.type not in HOST


class HostReads:
    def __init__(self, guard, recorder, sites, evaluations):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.evaluations = evaluations
        self.seen = guard.isolated("host_reads")(self.seen)
        self.made = []  # owner, name, stand-in and what stood there; None if that was inherited
        self.wanted = False  # the step is sampled
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.end_step(False)
        self.made, self.inside = [], False
        self.forget()
        self.whole = False  # all of the step under way was watched

    def forget(self):
        self.count, self.site = 0, 0

    def subscribe(self, moments):
        moments.sampled_gradients_used.append(self.consumed)
        moments.step_ends.append(self.write)
        moments.sampled_stepped.append(lambda: self.end_step(self.recorder.sampled))

    def consumed(self, optimizer, watched):
        """As the first step of an optimizer begins to use its gradients."""
        if self.made or watched.stepped:
            return
        parameters = (p for group in optimizer.param_groups for p in group["params"])
        first = next(parameters, None)
        if first is not None and on_accelerator(first):
            self.make()
            self.end_step(self.recorder.sampled)
            self.whole = False

    def make(self):
        for name in READING:
            stand_in = self.stand_in_for(getattr(torch.Tensor, name), name == "to")
            stand_in.__module__, stand_in.__qualname__ = "torch", f"Tensor.{name}"
            stand_in.__name__ = name
            self.made.append((torch.Tensor, name, stand_in, vars(torch.Tensor).get(name)))
        if torch.cuda.is_initialized():
            original = torch.cuda.synchronize
            stand_in = self.synchronizing(original)
            stand_in.__module__, stand_in.__qualname__ = "torch.cuda", "synchronize"
            self.made.append((torch.cuda, "synchronize", stand_in, original))

    def end_step(self, sampled):
        """What a step that is not sampled reads is not counted."""
        if sampled and not self.wanted:
            self.forget()
            self.whole = True
        self.wanted = sampled
        self.put_in() if sampled else self.put_back()

    def put_in(self):
        for owner, name, stand_in, _ in self.made:
            if vars(owner).get(name) is not stand_in:
                setattr(owner, name, stand_in)

    def put_back(self):
        for owner, name, stand_in, original in self.made:
            if vars(owner).get(name) is not stand_in:
                continue
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)

    @contextlib.contextmanager
    def originals(self):
        """Without the stand-ins: a class of tensors is told by which method it is asked."""
        self.put_back()
        try:
            yield
        finally:
            if self.wanted:
                self.put_in()

    def stand_in_for(self, original, moves):
        def stand_in(tensor, /, *args, **kwargs):
            if is_compiling():
                return original(tensor, *args, **kwargs)
            plain = type(tensor) in tensors.PLAIN
            own = plain and self.is_own(sys._getframe(1)) and on_accelerator(tensor)
            self.inside = own or self.inside
            try:
                if not plain or private.count_function_modes() > 0:
                    with self.originals():
                        result = original(tensor, *args, **kwargs)
                else:
                    result = original(tensor, *args, **kwargs)
            finally:
                self.inside = self.inside and not own
            if own and not (moves and goes_on(result, args, kwargs)):
                self.seen()
            return result

        return stand_in

    def synchronizing(self, original):
        def synchronize(*args, **kwargs):
            result = original(*args, **kwargs)
            if self.is_own(sys._getframe(1)):
                self.seen()
            return result

        return synchronize

    def is_own(self, frame):
        """Whether a call is the program's or one of its libraries', in training; the probe reads too,
        and so do the optimizers and scalers of torch."""
        if self.inside or self.evaluations.phase is not None or self.guard.elsewhere():
            return False
        return kind_of(frame.f_code.co_filename) != OURS

    def seen(self):
        self.count += 1
        if not self.site:
            self.site = self.sites.current()

    def write(self, owner):
        """As a sampled step ends."""
        if self.made and self.whole:
            self.recorder.quantity("host_reads", 0, float(self.count), site=self.site, owner=owner)
        self.whole = bool(self.made)
        self.forget()


def goes_on(result, args, kwargs):
    """Whether the host goes on at once, as Tensor.to is asked for this."""
    at_once = kwargs.get("non_blocking", any(a is True for a in args))
    return at_once or type(result) not in tensors.PLAIN or on_accelerator(result)
