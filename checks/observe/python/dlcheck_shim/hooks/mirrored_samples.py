"""Looks for a data set that mirrors its images now and then, and never what they are labeled with: points, boxes and
masks stay where they were.
"""

import torch

from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand

MOST_ENTRIES, AXES = 1 << 18, (-1, -2)
SAME, MARGIN = 0.95, 0.3  # correlation with the mirrored image; by how much it exceeds that with the image
FEWEST = 2


class Mirrors:
    """Of a data set: the followed samples as they were drawn first."""

    def __init__(self):
        self.first, self.count = {}, 0  # by index: image and target

    def again(self, number, image, target):
        """Whether enough samples were mirrored now that their targets were not. An image is (..., height, width)."""
        if image.dim() not in (2, 3) or image.numel() > MOST_ENTRIES or not is_placed(image, target):
            return False
        before = self.first.setdefault(number, (image.detach().double().clone(), target.detach().clone()))
        image = image.detach().double()
        if before[0].shape != image.shape or not torch.equal(before[1], target):
            return False
        if self.count >= FEWEST or not any(mirrors(before[0], image, axis) and moves(target, axis) for axis in AXES):
            return False
        self.count += 1
        return self.count == FEWEST


def is_placed(image, target):
    """Whether a target says where something is: points, boxes, or a mask of the image's size."""
    if not tensors.is_readable(target) or not is_at_hand(target) or target.dim() == 0 or target.is_complex():
        return False
    if target.dim() > 1 and target.shape[-2:] == image.shape[-2:]:
        return True
    return target.is_floating_point() and target.shape[-1] in (2, 4) and target.dim() <= 2


def mirrors(before, image, axis):
    return correlation(before.flip(axis), image) > max(SAME, correlation(before, image) + MARGIN)


def moves(target, axis):
    """A mask that is its own mirror image stays where it is."""
    return target.dim() < 2 or target.shape[-1] in (2, 4) or not torch.equal(target, target.flip(axis))


def correlation(one, other):
    one, other = one - one.mean(), other - other.mean()
    size = float(one.norm()) * float(other.norm())
    return float((one * other).sum()) / size if size else 0.0
