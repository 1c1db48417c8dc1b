"""Looks for targets that are standard normal noise of the shape of an input, which no input depends on: a denoiser
learns from the noise that was added, and this is another one.
"""

import math
import weakref

import torch

from ..torch_api import tensors
from ..torch_api.on_host import on_host

FUNCTIONS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
STEPS, MOST_STEPS, FEWEST, MOST = 4, 32, 1024, 1 << 18  # compared steps; numbers of all of them; of one batch
CERTAIN = 4.0  # standard errors of a mean, a variance, a fourth moment and a correlation


class UnrelatedNoise:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.inputs, self.found, self.done = [], {}, set()  # `found`: by thing of a loss and shape, targets and inputs of each step

    def subscribe(self, moments):
        moments.batch_compared.append(self.enter)
        moments.loss_compared.append(self.add)

    def enter(self, inputs):
        self.inputs = [weakref.ref(given) for given in inputs if tensors.is_readable(given)]

    def add(self, call):
        target, key = call.target, (call.thing, call.target.shape[1:])
        if key in self.done or call.function not in FUNCTIONS or target.shape != call.output.shape or target.dim() < 2:
            return
        if not tensors.is_readable(target) or not 0 < target.numel() <= MOST or target.requires_grad:
            return
        inputs = [given for given in (reference() for reference in self.inputs) if given is not None]
        given = next((i for i in inputs if i.shape == target.shape and i.is_floating_point()), None)
        target = call.host_target
        if not target.is_cpu or given is not None and not (given := on_host(given)).is_cpu:
            return
        pairs = self.found.setdefault(key, [])
        if given is None or not is_normal(target.detach().double()):
            self.done.add(key)
            self.found.pop(key)
            return
        pairs.append((target.detach().double().reshape(-1).clone(), given.detach().double().reshape(-1).clone()))
        if len(pairs) >= STEPS and sum(noise.numel() for noise, _ in pairs) >= FEWEST or len(pairs) == MOST_STEPS:
            self.done.add(key)
            self.judge(call.thing, self.found.pop(key))

    def judge(self, thing, pairs):
        targets, inputs = (torch.cat(each) for each in zip(*pairs))
        fresh = all(not torch.equal(pairs[0][0], later) for later, _ in pairs[1:])
        if fresh and targets.numel() >= FEWEST and is_normal(targets) and is_unrelated(targets, inputs):
            self.recorder.quantity("unrelated_noise", thing, float(targets.numel()), float(len(pairs)), self.sites.current())


def is_normal(values):
    """Whether the first four moments are those of a standard normal distribution, as far as so many numbers tell."""
    count = values.numel()
    bounds = ((1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0))  # power, mean and variance of it
    return all(abs(float(values.pow(n).mean()) - mean) <= CERTAIN * math.sqrt(of / count) for n, mean, of in bounds)


def is_unrelated(targets, inputs):
    centered = inputs - inputs.mean()
    size = float(centered.norm()) * float(targets.norm())
    return size > 0 and abs(float(centered @ targets)) <= CERTAIN * size / math.sqrt(targets.numel())
