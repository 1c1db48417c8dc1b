"""Looks at targets that are probabilities of classes: those of a softmax over the batch sum to 1 for each class, and not for
each sample.
"""

from ..torch_api import tensors

NEAR, FAR = 1e-4, 1e-2  # of sums of probabilities from 1
FEWEST_ROWS, MOST_LOOKS = 4, 16


class SoftTargets:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.looks, self.told = {}, False  # by thing of a loss

    def subscribe(self, moments):
        moments.loss_compared.append(self.add)

    def add(self, call):
        looks = self.looks.get(call.thing, 0)
        if self.told or looks == MOST_LOOKS or call.function not in ("cross_entropy", "kl_div"):
            return
        target = call.target
        if call.options.get("log_target") or not target.is_floating_point() or target.dim() != 2:
            return
        target = call.host_target
        if not tensors.is_readable(target) or not target.is_cpu or not target.shape[1] or target.shape[0] < FEWEST_ROWS:
            return
        self.looks[call.thing] = looks + 1
        if is_over_samples(target.detach().double()):
            self.told = True
            thing = self.recorder.thing("operation", 0, "softmax")
            self.recorder.quantity("softmax_over_samples", thing, float(target.shape[0]), 1.0, self.sites.current())


def is_over_samples(probabilities):
    """(samples, classes)"""
    of_samples, of_classes = ((probabilities.sum(axis) - 1).abs() for axis in (1, 0))
    return bool((of_classes < NEAR).all()) and float(of_samples.median()) > FAR and bool((probabilities >= 0).all())
