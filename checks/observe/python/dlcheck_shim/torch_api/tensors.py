"""Numbers about tensors: norms, counts of elements that are not finite. Observing only.

Every result stays on its device; a Transfer brings the numbers of a step to the host at once.
"""

import torch

from . import private

HALF = (torch.float16, torch.bfloat16)
PLAIN = (torch.Tensor, torch.nn.Parameter)
# So long may a number of an accelerator wait: a copy stops the device, and a crash loses the rest.
MOST_STEPS_WAITING = 16


class unrecorded:  # as a context it reads like torch.no_grad, which is watched and costs more
    """No operation inside is recorded for a backward."""

    __slots__ = ("before",)

    def __enter__(self):
        self.before = torch.is_grad_enabled()
        private.set_grad_enabled(False)

    def __exit__(self, *error):
        private.set_grad_enabled(self.before)


def is_plain(tensor):
    """True for tensors that hold numbers of their own: none that are traced, faked or
    transformed."""
    return (
        type(tensor) in PLAIN
        and not tensor.is_meta
        and not private.is_functorch_wrapped(tensor)
    )


def is_fake(tensor):
    """True for a tensor of a FakeTensorMode, which has a shape and no numbers."""
    return type(tensor).__module__ == "torch._subclasses.fake_tensor"


def is_shard(tensor):
    """True for a tensor that is spread over processes, of which this one holds a part."""
    return hasattr(tensor, "to_local") and hasattr(tensor, "placements")


def is_alike(tensor, gradient):
    """True where this process holds the same part of a tensor and of its gradient; of what is whole on
    all, each may have got a summand of the gradient, which the step puts together."""
    return getattr(tensor, "placements", None) == getattr(gradient, "placements", None)


def is_held(tensor):
    """True for a tensor of which this process holds numbers, all or a part: see `local`."""
    return is_shard(tensor) or is_plain(tensor)


def local(tensor):
    """What this process holds of a tensor, not a copy. Call without autograd."""
    return tensor.to_local() if is_shard(tensor) else tensor


def is_readable(tensor):
    """True for a plain tensor whose numbers lie in memory one by one, and whose writes are counted."""
    return (
        is_plain(tensor)
        and tensor.layout is torch.strided
        and not tensor.is_quantized
        and not tensor.is_inference()
    )


def place_of(tensor):
    """Where the numbers of a tensor lie; 0 where they do not lie in one place."""
    return tensor.data_ptr() if is_plain(tensor) and tensor.layout is torch.strided else 0


def may_compute():
    """False while a graph is captured or somebody watches every operation."""
    if private.count_dispatch_modes() > 0 or torch.jit.is_tracing():
        return False
    return not (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())


def dense(tensor):
    """The values of a tensor: a sparse one's, summed where they stand twice; a shard's own part."""
    tensor = local(tensor)
    return tensor.coalesce().values() if tensor.is_sparse else tensor


def norms(tensors):
    """L2 norms, one for each tensor, as one tensor on the device of the first. Call without
    autograd.

    Half precision is widened, because a norm overflows where no element does.
    Cost: one pass over the tensors, no copy from the device.
    """
    strided = torch.strided
    tensors = [t if type(t) in PLAIN and t.layout is strided else dense(t) for t in tensors]
    kinds = {(t.dtype, t.device) for t in tensors}
    if len(kinds) == 1 and tensors[0].dtype not in HALF:
        return torch.stack(private.foreach_norm(tensors))
    found = [torch.linalg.vector_norm(t, dtype=torch.float32 if t.dtype in HALF else None)
             for t in tensors]  # fmt: skip
    return torch.stack([n.to(tensors[0].device, torch.float64) for n in found])


def count_nonfinite(tensor):
    return int((~torch.isfinite(dense(tensor))).sum())


class Transfer:
    """Brings numbers to the host without stopping the device.

    On the CPU a number is read at once; from an accelerator those of several steps come in one
    copy.
    """

    def __init__(self):
        self.waiting, self.steps = [], 0

    def add(self, tensor, use):
        """`use` takes the list of the values of `tensor`, which has one dimension; it is not called for one
        without values, as in a FakeTensorMode."""
        if type(tensor) not in PLAIN and is_fake(tensor):
            return
        if tensor.is_cpu:
            use(tensor.tolist())
        else:
            self.waiting.append((tensor.detach(), use))

    def end_step(self, sampled):
        """Reads what is waiting after a sampled step, or when it has waited for some steps."""
        self.steps += 1
        if sampled or self.steps >= MOST_STEPS_WAITING:
            self.read_all()

    def read_all(self):
        self.steps = 0
        if not self.waiting:
            return
        waiting, self.waiting = self.waiting, []
        device = waiting[0][0].device
        numbers = torch.cat([t.to(device, torch.float64) for t, _ in waiting]).tolist()
        at = 0
        for tensor, use in waiting:
            use(numbers[at : at + tensor.numel()])
            at += tensor.numel()
