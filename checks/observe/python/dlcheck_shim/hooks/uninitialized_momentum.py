"""Momentum of a fused SGD that a skipped step has made: a loss scaler leaves the step out inside the kernel, which then
writes nothing into buffers that were only allocated."""

import torch

from ..state.optimizers import first_with_gradients
from ..torch_api import tensors
from ..torch_api.attributes import attribute


class UninitializedMomentum:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.look = guard.isolated("momentum")(self.look)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.settled = set()  # things of optimizers
        self.skipped = {}  # by thing of one without buffers: whether its step before was left out

    def subscribe(self, moments):
        moments.gradients_used.append(self.use)

    def use(self, optimizer, watched):
        if watched.thing not in self.settled and tensors.may_compute():
            self.look(optimizer, watched.thing)

    def look(self, optimizer, thing):
        first = first_with_gradients(optimizer, 1) if is_fused_sgd(optimizer) else []
        skipped, found = self.skipped.pop(thing, None), attribute(optimizer, "found_inf")
        buffer = optimizer.state.get(first[0], {}).get("momentum_buffer") if first else None
        if buffer is None and first and isinstance(found, torch.Tensor):
            with tensors.unrecorded():
                self.skipped[thing] = found.detach().clone()
            return
        self.settled.add(thing)
        if buffer is not None and skipped is not None and tensors.is_readable(buffer):
            self.write(thing, buffer, skipped)

    def write(self, thing, buffer, skipped):
        recorder, site, total = self.recorder, self.sites.current(), buffer.numel()
        at = (recorder.step, recorder.micro_step)

        def use(values):
            if values[0] > 0:
                recorder.quantity("uninitialized_momentum", thing, values[0], float(total), site, at=at)

        with tensors.unrecorded():
            written = (buffer.detach() != 0).sum() * (skipped.to(buffer.device) != 0).reshape(())
            recorder.transfer.add(written.double().reshape(1), use)


def is_fused_sgd(optimizer):
    group = optimizer.param_groups[0] if optimizer.param_groups else {}
    return type(optimizer) is torch.optim.SGD and bool(group.get("fused")) and bool(group.get("momentum"))
