"""Finds the lines that compute a loss, by the source around its backward call: a finding about the loss is made
there, and the call only comes behind."""

from ..record.sites import OWN, kind_of
from ..source.loss_lines import lines_of_loss
from ..source.trees import source_of, tree_of

MOST_CALLS = 32
MOST_FILES, MOST_BYTES = 4, 1 << 18  # that are read: the tree of 8,000 lines has 20 MB


class LossLines:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.note = guard.isolated("loss_lines", asks_tensors=False)(self.note)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.calls = {}  # by code and line of a backward call: the loss, and where it was met

    def note(self, thing):
        """A backward call of this loss is met. Its source is read as the run ends: what parses it might be compiled
        here, where a compiled function calls backward."""
        found = self.sites.caller()
        if found is not None and found not in self.calls and len(self.calls) < MOST_CALLS:
            self.calls[found] = thing, (self.recorder.step, self.recorder.micro_step)

    def write(self):
        """As the run ends."""
        trees = {}
        for (code, number), (thing, at) in self.calls.items() if self.recorder.request.experiment == "plain" else ():
            path = code.co_filename
            if path not in trees and len(trees) < MOST_FILES and kind_of(path) == OWN:
                source = source_of(path)
                trees[path] = tree_of(source) if len(source) <= MOST_BYTES else None
            for line, function in lines_of_loss(trees[path], number) if trees.get(path) is not None else ():
                site = self.recorder.writer.site(path, line, function)
                self.recorder.event("loss_computed", thing, float(number), site=site, at=at)
