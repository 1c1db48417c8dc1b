"""Numbers about tensors: norms, counts of elements that are not finite. Observing only.

Every result stays on its device; a Transfer brings the numbers of a step to the host at once.
"""

import torch

HALF = (torch.float16, torch.bfloat16)
PLAIN = (torch.Tensor, torch.nn.Parameter)


def is_plain(tensor):
    """True for tensors that hold numbers of their own: none that are traced, faked or transformed."""
    return (
        type(tensor) in PLAIN
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        and tensor.device.type != "meta"
    )


def may_compute():
    """False while a graph is captured or somebody watches every operation."""
    if torch._C._len_torch_dispatch_stack() > 0 or torch.jit.is_tracing():
        return False
    return not (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())


def dense(tensor):
    """The values of a tensor: a sparse one's, summed where they stand twice; a shard's own part."""
    if hasattr(tensor, "to_local"):
        tensor = tensor.to_local()
    return tensor.coalesce().values() if tensor.is_sparse else tensor


def norms(tensors):
    """L2 norms, one for each tensor, as one tensor on the device of the first. Call without autograd.

    Half precision is widened, because a norm overflows where no element does.
    Cost: one pass over the tensors, no copy from the device.
    """
    strided = torch.strided
    tensors = [t if type(t) in PLAIN and t.layout is strided else dense(t) for t in tensors]
    kinds = {(t.dtype, t.device) for t in tensors}
    if len(kinds) == 1 and tensors[0].dtype not in HALF:
        return torch.stack(torch._foreach_norm(tensors))
    found = [torch.linalg.vector_norm(t, dtype=torch.float32 if t.dtype in HALF else None)
             for t in tensors]  # fmt: skip
    return torch.stack([n.to(tensors[0].device, torch.float64) for n in found])


def count_nonfinite(tensor):
    return int((~torch.isfinite(dense(tensor))).sum())


class Transfer:
    """Brings numbers to the host without stopping the device.

    On the CPU a number is read at once. From an accelerator the numbers of a sampled step come in one
    copy at its end; those of other steps are copied in the background and read one step later.
    """

    def __init__(self):
        self.waiting, self.under_way = [], []

    def add(self, tensor, use):
        """`use` takes the list of the values of `tensor`, which has one dimension."""
        if tensor.device.type == "cpu":
            use(tensor.tolist())
        else:
            self.waiting.append((tensor, use))

    def end_step(self, at_once):
        self.read(self.under_way)
        self.under_way = []
        if not self.waiting:
            return
        device = self.waiting[0][0].device
        joined = torch.cat([t.detach().to(device, torch.float64) for t, _ in self.waiting])
        uses = [(t.numel(), use) for t, use in self.waiting]
        self.waiting = []
        if at_once or device.type != "cuda":
            self.read([(joined, uses, None)])
            return
        host = torch.empty(joined.shape, dtype=joined.dtype, device="cpu", pin_memory=True)
        host.copy_(joined, non_blocking=True)
        arrived = torch.cuda.Event()
        arrived.record(torch.cuda.current_stream(device))
        self.under_way = [(host, uses, arrived)]

    @staticmethod
    def read(copies):
        for values, uses, arrived in copies:
            if arrived is not None:
                arrived.synchronize()
            numbers, at = values.tolist(), 0
            for count, use in uses:
                use(numbers[at : at + count])
                at += count
