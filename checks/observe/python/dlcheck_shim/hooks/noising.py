"""Looks how a diffusion model's inputs were made of data and noise: with which two factors for each sample, and whether
any input of the model tells it how much noise there is.

The noise is the target of the loss. The data are looked for among all tensors, which takes tens of milliseconds: a few
times, and only where a target is normal noise.
"""

import weakref

import torch

from ..state.objects_alive import tensors_alive
from ..torch_api import tensors
from ..torch_api.on_host import on_host
from .unrelated_noise import FUNCTIONS, MOST, is_normal

MOST_LOOKS, CONFIRMING = 4, 2
FEWEST_SAMPLES, FEWEST_GROUPS = 16, 8  # of a batch; samples, or groups of equal time steps, whose factors are known
NUMBERS = 16  # of a sample, whose factors are known by itself
NEAR, EQUAL, OTHER = 1e-3, 2e-3, 0.05  # rest of a fit; spread of a ratio that is constant, and of one that is not
LEAST_NOISE = 0.1  # spread of the factors of the noise
UNLINKED = 0.5  # correlation of ranks, below which one number does not follow from another
NOISE, DATA = 1, 2  # whose factor has no root


class Noising:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.add = guard.isolated("noising")(self.add)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.inputs, self.looks, self.kinds, self.unlinked = [], 0, [], []

    def subscribe(self, moments):
        moments.batch_compared.append(self.enter)
        moments.loss_compared.append(self.add)

    def enter(self, inputs):
        self.inputs = [weakref.ref(given) for given in inputs if tensors.is_readable(given)]

    def add(self, call):
        noise = call.target
        if self.looks >= MOST_LOOKS or call.function not in FUNCTIONS or not is_sample(noise) or noise.shape != call.output.shape:
            return
        noise, inputs = on_host(noise), [on_host(given) for given in (reference() for reference in self.inputs) if given is not None]
        inputs = [given.detach() for given in inputs if given.is_cpu]
        noisy = next((given for given in inputs if given.shape == noise.shape and given.is_floating_point()), None)
        if noisy is None or not noise.is_cpu or not is_normal(noise.detach().double()):
            return
        self.looks += 1
        numbers = [given for given in inputs if is_number_of_each(given, len(noisy))]
        groups, found = factors_of(noisy, noise.detach(), numbers)
        if found is None:
            return
        self.kinds.append(kind_of(*found))
        if groups is None and any(number.unique().numel() > FEWEST_GROUPS for number in numbers):
            self.unlinked.append(max(abs(rank_correlation(number, found[1])) for number in numbers))
        self.tell(call, len(noisy))

    def tell(self, call, samples):
        """Where so many looks agree."""
        for kind in (NOISE, DATA):
            if self.kinds.count(kind) == CONFIRMING and self.kinds[-1] == kind:
                self.recorder.quantity("noise_factor", call.thing, float(kind), float(samples), self.sites.current())
        if len(self.unlinked) == CONFIRMING and max(self.unlinked) < UNLINKED:
            self.recorder.quantity("wrong_time_step", call.thing, float(samples), max(self.unlinked), self.sites.current())


def is_sample(tensor):
    return (tensors.is_readable(tensor) and not tensor.requires_grad and tensor.is_floating_point()
            and tensor.dim() > 1 and tensor.shape[0] >= FEWEST_SAMPLES and tensor.numel() <= MOST)  # fmt: skip


def is_number_of_each(given, samples):
    return given.numel() == samples == given.shape[0] and not given.is_complex() and given.dtype != torch.bool


def factors_of(noisy, noise, numbers):
    """(the numbers by which samples are grouped, None where each is its own; (factors of the data, factors of the
    noise)); the latter None if no tensor is the data."""
    rows = [part.double().reshape(len(noisy), -1) for part in (noisy, noise)]
    for data in tensors_alive():
        if not is_sample(data) or data.shape != noisy.shape or data is noisy or data.data_ptr() in (noisy.data_ptr(), noise.data_ptr()):
            continue
        if not (data := on_host(data)).is_cpu:
            continue
        known = torch.stack([data.detach().double().reshape(len(noisy), -1), rows[1], torch.ones_like(rows[0])], 2)
        for groups in (None, *numbers) if known.shape[1] < NUMBERS else (None,):
            found = fitted(known, rows[0], groups)
            if found is not None:
                return groups, found
    return None, None


def fitted(known, wanted, groups):
    """(factors of the data, of the noise) of each sample, or of each group of equal numbers; None if they do not fit."""
    if groups is None:
        if known.shape[1] < NUMBERS:
            return None
        pieces = [(known, wanted)]
    else:
        order = groups.flatten()
        members = [order == value for value in order.unique()[:FEWEST_SAMPLES]]
        pieces = [(known[m].flatten(0, 1)[None], wanted[m].flatten()[None]) for m in members if int(m.sum()) * known.shape[1] > 4]
    found = []
    for columns, goal in pieces:
        factors = torch.linalg.lstsq(columns, goal[..., None]).solution
        if float((columns @ factors - goal[..., None]).abs().max()) > NEAR * float(wanted.std()):
            return None
        found.append(factors[:, :2, 0])
    found = torch.cat(found) if found else torch.zeros(0, 2)
    return (found[:, 0], found[:, 1]) if len(found) >= FEWEST_GROUPS else None


def kind_of(data, noise):
    """NOISE or DATA where that factor is a share of the variance and no root of it; 0 of all other ways."""
    noise = noise.abs()
    if float(noise.max() - noise.min()) < LEAST_NOISE or float(data.abs().min()) == 0:
        return 0
    of_variance, of_sum = spread((1 - noise**2) / data**2), spread((1 - noise) / data)
    if min(of_variance, of_sum, spread(data)) <= OTHER:
        return 0
    if spread((1 - noise) / data**2) <= EQUAL:
        return NOISE
    return DATA if spread((1 - noise**2) / data) <= EQUAL else 0


def spread(values):
    return float(values.std() / values.mean().abs().clamp_min(1e-30))


def rank_correlation(one, other):
    ranks = [values.flatten().double().argsort().argsort().double() for values in (one, other)]
    return float(torch.corrcoef(torch.stack(ranks))[0, 1])
