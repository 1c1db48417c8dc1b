"""Looks for classes that an interpolation made up: a mask of class numbers is resized by averages of neighbors, and
made integer again. Class 2 then lies between the classes 1 and 3.
"""

import torch

from ..record.digest import digest
from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand
from ..torch_api.wrapping import followed_by, replace

MODES = ("linear", "bilinear", "bicubic", "trilinear", "area")
MOST_CALLS, MOST_MASKS, MOST_ENTRIES = 512, 1024, 1 << 20  # of interpolate; that are known; of one call
MOST_BEGINNING = 4096  # numbers of a source
MOST_CLASSES = 32  # of a mask; a picture has more brightnesses, and their averages are brightnesses
MOST_LOOKS, MOST_TARGETS = 64, 8  # at calls of losses; targets of one


class InterpolatedClasses:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.resized = guard.isolated("mask")(self.resized)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.calls, self.looks = 0, 0
        self.masks = {}  # by digest of a mask as integers: a class that it has and its source has not, where, and the site

    def subscribe(self, moments):
        moments.loss_examined.append(self.add)

    def watch_all(self):
        replace([torch.nn.functional], "interpolate", followed_by(self.resized))

    def resized(self, result, args, kwargs):
        given = args[0] if args else kwargs.get("input")
        mode = args[3] if len(args) > 3 else kwargs.get("mode", "nearest")
        if self.calls == MOST_CALLS or mode not in MODES or not is_read(given) or not is_read(result) or given.requires_grad:
            return
        self.calls += 1
        with tensors.unrecorded():
            before, after = given.detach(), result.detach()
            if not bool((before == before.floor()).all()) or bool((after == after.floor()).all()):
                return
            site = self.sites.current(always=True)
            for source, made in zip(before, after):
                # The beginning of a picture has too many values already, and is read in no time.
                begins = source.reshape(-1)[:MOST_BEGINNING].unique().numel() <= MOST_CLASSES
                known = source.unique().long() if begins and len(self.masks) < MOST_MASKS else None
                if known is not None and known.numel() <= MOST_CLASSES:
                    self.keep(known, made.floor().long(), site)
                    self.keep(known, made.round().long(), site)

    def keep(self, known, made, site):
        strange = ~torch.isin(made, known)
        if bool(strange.any()):
            self.masks[digest([made])] = (int(made[strange][0]), int(strange.sum()), site)

    def add(self, call):
        target = call.target
        if not self.masks or self.looks == MOST_LOOKS or call.function not in ("cross_entropy", "nll_loss"):
            return
        if target.dim() < 2 or target.dtype is not torch.int64 or not tensors.is_readable(target) or not (target := call.host_target).is_cpu:
            return
        self.looks += 1
        for row in target[:MOST_TARGETS]:
            found = self.masks.get(digest([row.detach().contiguous()]))
            if found is not None:
                made, positions, site = found
                self.looks = MOST_LOOKS
                self.recorder.quantity("made_classes", call.thing, float(positions), float(made), site)
                return


def is_read(tensor):
    if not isinstance(tensor, torch.Tensor) or not tensors.is_readable(tensor) or not is_at_hand(tensor):
        return False
    return tensor.is_floating_point() and 0 < tensor.numel() <= MOST_ENTRIES and tensors.may_compute()
