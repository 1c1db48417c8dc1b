"""Looks along which axis the log-probabilities of a loss were normalized: nll_loss takes classes on the second one."""

from ..autograd.rearranged import misplaced_classes


class ClassAxis:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.told = set()  # things of losses
        recorder.moments.begins_anew.append(self.told.clear)

    def subscribe(self, moments):
        moments.loss_compared.append(self.add)

    def add(self, call):
        if call.function != "nll_loss" or call.thing in self.told:
            return
        axis = misplaced_classes(call.output)
        if axis is not None:
            self.told.add(call.thing)
            self.recorder.quantity("misplaced_classes", call.thing, float(axis), float(call.output.dim()),
                                   self.sites.current())  # fmt: skip
