"""Finds schedulers that a program steps under a condition that never came true, by its source at the end of a run:
such a program means to step them only now and then.
"""

from ..source.conditional_steps import conditional_steps
from ..source.trees import MOST_FILES, source_of


class ConditionalSteps:
    def __init__(self, recorder, sites, schedulers):
        self.recorder, self.sites, self.schedulers = recorder, sites, schedulers

    def write(self):
        waiting = {}
        for scheduler, (thing, moves, *_) in self.schedulers.known.items():
            if thing and not moves:
                waiting.setdefault(type(scheduler).__name__, []).append(thing)
        if not waiting or self.recorder.request.experiment != "plain":
            return
        for path in sorted(self.sites.own_files())[:MOST_FILES]:
            for kind in conditional_steps(source_of(path), set(waiting)):
                for thing in waiting.get(kind, ()):
                    self.recorder.attribute(thing, "step_depends", 1)
