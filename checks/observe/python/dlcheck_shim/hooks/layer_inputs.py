"""Looks at what some layers are given in training: an embedding that is asked for one row alone, a normalization
whose epsilon is larger than the variance, and batch normalization that works with the statistics it was made with.
"""

import math

import torch

from ..autograd.rearranged import sizes_swapped
from ..state import walking
from ..torch_api import private, tensors
from ..torch_api.attributes import attribute
from ..torch_api.on_host import is_at_hand
from .columns_of_ids import ColumnsOfIds

FEWEST_ROWS = 4  # of an embedding: a table of two or three may have kinds that a program never uses
FEWEST_CALLS = 8
LEAST_SHARE = 0.5  # of the groups of a normalization whose variance is below its epsilon


class LayerInputs:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.write_scale = guard.isolated("scale of inputs")(self.write_scale)
        self.look_at_view = guard.isolated("view of inputs")(self.look_at_view)
        self.of_embedding = guard.isolated("embedding")(self.of_embedding)
        self.of_normalization = guard.isolated("normalization")(self.of_normalization)
        self.of_statistics = guard.isolated("statistics")(self.of_statistics)
        columns = ColumnsOfIds(recorder, sites)
        self.columns_of_ids = guard.isolated("columns")(columns.add)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.asked = {}  # by thing of an embedding: the one row it was asked for, None once there were several; calls

    def add(self, layer, thing, args, root):
        """After a call of a layer in training, in a sampled step; `root` is the whole model."""
        given = args[0] if args else None
        if not thing or not tensors.is_plain(given) or not is_at_hand(given) or not tensors.may_compute():
            return
        if isinstance(layer, torch.nn.Embedding):
            self.columns_of_ids(layer, thing, given)
            if self.asked.get(thing, (0, 0))[0] is not None and given.numel():
                self.of_embedding(layer, thing, given)
            return
        step = self.recorder.step
        if isinstance(layer, private.BatchNorm):
            self.of_statistics(layer, thing, root)
        if step & (step - 1) == 0 and given.is_floating_point() and given.dim() > 1:
            self.of_normalization(layer, thing, given)

    def of_first_layer(self, thing, args, last_batch):
        """Of what the first layer with weights of a model is given."""
        self.write_scale(thing, args)
        self.look_at_view(args, last_batch)

    def write_scale(self, thing, args):
        given = args[0] if args else None
        if not isinstance(given, torch.Tensor) or not tensors.is_readable(given) or not tensors.may_compute():
            return
        count, at = given.numel(), (self.recorder.step, self.recorder.micro_step)
        if not given.is_floating_point() or not count:
            return

        def write(values):
            if math.isfinite(values[0]):
                self.recorder.quantity("input_scale", thing, values[0] / math.sqrt(count), at=at)

        with tensors.unrecorded():
            self.recorder.transfer.add(tensors.norms([given.detach()]), write)

    def look_at_view(self, args, last_batch):
        """Of the batch itself, before any layer: graphs have no node for it."""
        given = args[0] if args else None
        if not tensors.is_plain(given) or given.requires_grad or not given.is_contiguous():
            return
        batch = private.base_of(given)
        if batch is given or batch.numel() != given.numel() or not batch.is_contiguous() or not last_batch.holds(batch):
            return
        sizes = sizes_swapped(batch.shape, given.shape)
        if sizes is not None:
            self.recorder.quantity("swapped_sizes", self.recorder.thing("operation", 0, sizes), 1.0,
                                   site=self.sites.current())  # fmt: skip

    def of_embedding(self, layer, thing, given):
        least, most = (int(end) for end in given.aminmax())
        row, calls = self.asked.get(thing, (least, 0))
        if least != most or row != least or attribute(layer, "num_embeddings", 0) < FEWEST_ROWS:
            self.asked[thing] = (None, 0)
            return
        self.asked[thing] = (row, calls + 1)
        if calls + 1 >= FEWEST_CALLS:
            self.recorder.quantity("only_row", thing, float(row), float(attribute(layer, "num_embeddings")),
                                   self.sites.current())  # fmt: skip

    def of_normalization(self, layer, thing, given):
        """Over the axes that the layer takes its variance of."""
        epsilon, shape = attribute(layer, "eps"), attribute(layer, "normalized_shape")
        if not isinstance(epsilon, (int, float)):
            return
        with tensors.unrecorded():
            values = given.detach().double()
            if isinstance(layer, private.BatchNorm):
                values = values.movedim(1, 0).flatten(1)
            elif isinstance(layer, torch.nn.GroupNorm):
                values = values.reshape(given.shape[0], attribute(layer, "num_groups"), -1)
            elif isinstance(shape, tuple) and isinstance(layer, torch.nn.LayerNorm):
                values = values.flatten(-len(shape))
            else:
                return
            if values.shape[-1] < 2:
                return
            share = float((values.var(-1, correction=0) < epsilon).double().mean())
        if share >= LEAST_SHARE:
            self.recorder.quantity("small_variance", thing, share, float(epsilon), self.sites.current())

    def of_statistics(self, layer, thing, root):
        """Where the layer is left in evaluation mode, or keeps nothing of what it sees."""
        kept = dict(walking.items_of(layer, private.BUFFERS))
        mean, counted = kept.get("running_mean"), kept.get("num_batches_tracked")
        if mean is None or root is None or not root.training:
            return
        frozen = not layer.training and isinstance(counted, torch.Tensor) and int(counted) == 0
        if frozen or layer.training and attribute(layer, "momentum") == 0:
            if is_as_made(mean, 0.0) and is_as_made(kept.get("running_var"), 1.0):
                self.recorder.quantity("initial_statistics", thing, 1.0 if frozen else 2.0, site=self.sites.current())


def is_as_made(values, number):
    return tensors.is_readable(values) and is_at_hand(values) and bool((values == number).all())
