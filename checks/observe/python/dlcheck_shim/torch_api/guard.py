"""Keeps every failure of the probe away from the program, and the probe to one thread of it.

Each hook belongs to a family. The first exception of a family is written down and switches that
family off; the others go on. Our own tests set DLCHECK_SHIM_RAISE=1, and then nothing is swallowed.

Watched is the thread of the first training event: to read the gradients of another one while it
works on them is to read memory that may be gone.
"""

import contextlib
import functools
import inspect
import os
import signal
import threading
import time

import torch

from . import private

NOBODY = -1  # no thread has this number
LONGEST_WAIT = 1.0  # seconds, of another thread for the end of a hook; once a thread
# The system's own, all in C: a signal handler of the program can raise between two lines of Python only.
unseen_by_functions, modes = private.DisableTorchFunction, private.count_dispatch_modes
get_ident, monotonic, sleep = threading.get_ident, time.monotonic, time.sleep
is_recorded, set_recorded = torch.is_grad_enabled, private.set_grad_enabled
RAISES = os.environ.get("DLCHECK_SHIM_RAISE") == "1"


def is_of_signal(error):
    """True for what a signal handler of the program raised while the probe was at work."""
    handlers = (signal.getsignal(number) for number in signal.valid_signals())
    codes = {code_of(handler) for handler in handlers} - {None}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes or has_interrupted(trace.tb_frame):
            return True
        trace = trace.tb_next
    return False


def has_interrupted(frame):
    """Whether it was called with a signal's number and the frame below it, as only handlers are: one may
    have taken itself out before it raised."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + bool(code.co_flags & inspect.CO_VARARGS) + code.co_kwonlyargcount
    given = [values.get(name) for name in code.co_varnames[:count]]
    flat = [part for value in given for part in (value if type(value) is tuple else (value,))]
    calls = [number for number, below in zip(flat, flat[1:]) if below is frame.f_back is not None]
    return any(issubclass(type(number), int) for number in calls)


def put_back(stack):
    """The program's modes, where a signal handler raised while they were being put aside."""
    there = private.dispatch_modes()
    for mode in stack[len(there):]:
        private.push_dispatch_mode(mode)


def code_of(handler):
    """What runs as a signal handler is called: of a function, a bound method, a partial, an object."""
    if not callable(handler):  # SIG_DFL, SIG_IGN
        return None
    handler = getattr(handler, "func", handler)
    if not hasattr(handler, "__code__"):
        handler = getattr(type(handler), "__call__", None)
    return getattr(handler, "__code__", None)


class Guard:
    def __init__(self, report, report_unseen):
        """`report` takes the name of a family and the exception that ended it; `report_unseen` the
        number of threads that train and are not watched."""
        self.report, self.report_unseen = report, report_unseen
        self.failed = set()
        self.reset()

    def reset(self):
        self.thread, self.others, self.lock = None, set(), threading.Lock()
        self.in_backward = False  # the watched thread waits for a backward of its own
        self.inside = None  # the thread that is in a hook, which has put the program's modes aside

    def elsewhere(self):
        """True in a thread that is not watched."""
        here = get_ident()
        if self.thread is None or here == self.thread:
            return False
        # The engine's own threads run hooks of the backward that the watched one waits for.
        ours = self.in_backward and private.current_graph_task_id() != -1
        return not ours or here in self.others

    @contextlib.contextmanager
    def resting(self):
        """What this thread does inside is the probe's own, and is not watched."""
        thread, self.thread = self.thread, NOBODY
        self.inside = None  # and stays so: a hook that goes on afterwards costs a little more
        try:
            yield
        finally:
            self.thread = thread

    def claim(self):
        """At a training event: the first one decides which thread is watched. True in that one."""
        with self.lock:
            if self.thread is None:
                self.thread = get_ident()
        return not self.elsewhere()

    def trains_here(self):
        """At a backward or a step: as `claim`, and counts the threads that are not watched."""
        if get_ident() == self.thread or self.claim():
            return True
        if self.thread == NOBODY:
            return False
        here = get_ident()
        with self.lock:
            is_new = here not in self.others
            if is_new:
                self.others.add(here)
                self.report_unseen(len(self.others))
        if is_new:
            self.wait_for_hook()
        return False

    def is_alone(self):
        """True while no other thread has trained: only then are gradients of all parameters the watched thread's
        to read. A gradient that the engine writes in another thread meanwhile is memory that may be gone."""
        return not self.others

    def wait_for_hook(self):
        """Before the first training of another thread: a hook under way may have found itself alone."""
        end = monotonic() + LONGEST_WAIT
        while self.inside == self.thread and monotonic() < end:
            sleep(0.001)

    def isolated(self, family, anywhere=False, runs_program=False, asks_tensors=True):
        """A decorator: the function gives None when its family is off or fails, and in a thread
        that is not watched unless `anywhere`. What it computes is not seen by the program's
        TorchFunctionMode, TorchDispatchMode or `__torch_function__`, unless it `runs_program` itself, as
        experiments do. Whatever ends it, gradients are recorded afterwards as before. One that
        `asks_tensors` nothing, not even for their types, needs none of this and costs less."""

        def decorate(body):
            failed = self.failed

            def fail(error):
                if RAISES or is_of_signal(error):
                    raise error
                failed.add(family)
                self.report(family, error)

            @functools.wraps(body)
            def call(*args, **kwargs):
                if family in failed:
                    return None
                here, ours = get_ident(), self.thread
                is_inside = self.inside == here
                if not is_inside and ours != here and not anywhere and ours is not None and self.elsewhere():
                    return None
                if is_inside or not asks_tensors:
                    try:
                        return body(*args, **kwargs)
                    except Exception as error:
                        return fail(error)
                recorded = is_recorded()
                try:
                    if runs_program:
                        return body(*args, **kwargs)
                    with unseen_by_functions():
                        try:
                            if modes() == 0:
                                if not anywhere:
                                    self.inside = here
                                return body(*args, **kwargs)
                            stack = private.dispatch_modes()
                            try:
                                with private.disable_dispatch_modes():
                                    return body(*args, **kwargs)
                            finally:
                                put_back(stack)
                        finally:
                            # First of all, as a signal may raise after any call.
                            if self.inside == here:
                                self.inside = None
                            if is_recorded() is not recorded:
                                set_recorded(recorded)
                except Exception as error:
                    return fail(error)

            return call

        return decorate
