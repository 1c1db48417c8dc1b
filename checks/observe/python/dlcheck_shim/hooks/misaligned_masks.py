"""Looks for masks that are mirrored or turned in another way than their images: some fit as they are, the others only
after one certain change. How a mask fits is its correlation with the brightness of the image.
"""

import weakref

import torch

from ..torch_api import tensors
from ..torch_api.on_host import on_host
from .loaders import tensors_of

FUNCTIONS = ("cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "binary_cross_entropy", "mse_loss", "l1_loss")
MOST_STEPS, MOST_SAMPLES, LEAST_SIDE, MOST_PIXELS = 24, 8, 8, 32  # samples of a step, pixels looked at of a side
MOST_KINDS = 16  # different numbers of a mask: a picture has more
MARGIN = 0.3  # by how much a change makes a mask fit better than all others do
FEWEST, LEAST_SHARE, MOST_OTHERS = 32, 0.15, 0.03  # samples that fit; shares of the one change and of all others


class MisalignedMasks:
    def __init__(self, guard, recorder, sites, loaders):
        self.recorder, self.sites = recorder, sites
        self.fetched = guard.isolated("masks")(self.fetched)
        loaders.on_batch.append(self.fetched)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        # By thing of a loss or a batch: how many masks fit after each change; None once it is known.
        self.images, self.known, self.steps = None, {}, {}

    def subscribe(self, moments):
        moments.batch_compared.append(self.enter)
        moments.loss_compared.append(self.add)

    def enter(self, inputs):
        image = next((each for each in inputs if tensors.is_readable(each) and each.dim() == 4 and each.is_floating_point()), None)
        self.images = None if image is None else weakref.ref(image)

    def fetched(self, facts, batch):
        """A data set may change both before a loader hands them out, whatever the loss is."""
        given = tensors_of(batch)
        if len(given) != 2 or not self.recorder.sampled or not self.recorder.compares() or not all(map(tensors.is_plain, given)):
            return
        if given[0].dim() == 4 and tensors.may_compute():
            with tensors.unrecorded():
                self.compare(self.recorder.thing("batch", 0, "input"), *given)

    def add(self, call):
        images = self.images and self.images()
        if images is not None and call.function in FUNCTIONS:
            self.compare(call.thing, images, call.target)

    def compare(self, thing, images, masks):
        fits, side = self.known.setdefault(thing, {}), images.shape[-2:]
        if fits is None or self.steps.get(thing, 0) >= MOST_STEPS or masks.shape[-2:] != side or masks.dim() not in (3, 4) or min(side) < LEAST_SIDE:
            return
        if masks.shape[0] != images.shape[0] or not all(tensors.is_readable(each) and not each.is_complex() for each in (images, masks)):
            return
        images, masks = on_host(images), on_host(masks)
        if not images.is_cpu or not masks.is_cpu:
            return
        if masks.dim() == 4 and masks.shape[1] != 1 or masks.shape == images.shape and masks.equal(images):
            self.known[thing] = None
            return
        if masks[:MOST_SAMPLES].unique().numel() > MOST_KINDS:
            self.known[thing] = None
            return
        self.steps[thing] = self.steps.get(thing, 0) + 1
        for change in changes_that_fit(images.detach(), masks.detach().reshape(len(masks), *side)):
            fits[change] = fits.get(change, 0) + 1
        self.judge(thing, fits)

    def judge(self, thing, fits):
        """Tells only where both occur: a data set may be turned as a whole."""
        total, changed = sum(fits.values()), sorted((count for change, count in fits.items() if change != 0), reverse=True)
        if total < FEWEST or not changed:
            return
        both = min(changed[0], fits.get(0, 0)) >= LEAST_SHARE * total
        if both and sum(changed[1:]) <= MOST_OTHERS * total:
            self.known[thing] = None
            self.recorder.quantity("misaligned_masks", thing, float(changed[0]), float(total), self.sites.current(always=True))


def changes_that_fit(images, masks):
    """For each of some samples with a clear answer, the number of the change after which its mask fits best; 0 for none."""
    down, along = (max(1, size // MOST_PIXELS) for size in masks.shape[-2:])
    images, masks = (each[:MOST_SAMPLES, ..., ::down, ::along].double() for each in (images, masks))
    images = images.mean(1)
    changed = [masks, masks.flip(-1), masks.flip(-2), masks.flip(-1, -2)]
    if masks.shape[-1] == masks.shape[-2]:
        changed += [each.transpose(-1, -2) for each in changed]
    found = torch.stack([correlations(images, each) for each in changed], 1).abs()
    best, number = found.max(1)
    others = found.scatter(1, number[:, None], -1.0).amax(1)
    clear = (best - others >= MARGIN) & found.isfinite().all(1)
    return number[clear].tolist()


def correlations(images, masks):
    """(samples,), NaN where one of the two is constant."""
    images, masks = images.flatten(1), masks.flatten(1)
    images, masks = images - images.mean(1, keepdim=True), masks - masks.mean(1, keepdim=True)
    return (images * masks).sum(1) / (images.norm(dim=1) * masks.norm(dim=1))
