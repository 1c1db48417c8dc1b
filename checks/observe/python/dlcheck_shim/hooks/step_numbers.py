"""The numbers of a step that ended: rates, time, memory."""

import os
import resource

import torch

from ..state.optimizers import rate_of
from ..system import close, open_, perf_counter, read

PAGE = resource.getpagesize()


class StepNumbers:
    def __init__(self, recorder):
        self.recorder = recorder
        self.last_end = None  # of the step before, in seconds

    def write(self, optimizer, watched):
        recorder = self.recorder
        now = perf_counter()
        if recorder.takes_scalars():
            for thing, group in zip(watched.groups, optimizer.param_groups):
                rate = rate_of(group)
                if rate is not None:
                    recorder.quantity("learning_rate", thing, rate, owner=watched.thing)
        if recorder.sampled:
            if self.last_end is not None:
                recorder.quantity("step_time", 0, now - self.last_end, owner=watched.thing)
            for part, seconds in recorder.parts.take().items():
                recorder.quantity(part, 0, seconds, owner=watched.thing)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            recorder.quantity("memory", 0, peak, owner=watched.thing)
            if recorder.detailed:
                self.write_resident(watched)
            if torch.is_anomaly_enabled():
                thing = recorder.thing("facility", 0, "anomaly detection")
                recorder.event("debugging", thing)
        self.last_end = now

    def write_resident(self, watched):
        try:
            file = open_("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
            try:
                pages, shared = map(int, read(file, 200).split()[1:3])
            finally:
                close(file)
        except (OSError, ValueError, IndexError):
            return
        self.recorder.quantity("resident_memory", 0, float((pages - shared) * PAGE), owner=watched.thing)
