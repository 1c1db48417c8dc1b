"""Programs that put something around torch's operations: modes, classes of tensors, settings."""

MODES = """
    import collections
    from tiny import *
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode
    seen = collections.Counter()
"""

PROGRAMS = {
    "a mode of functions draws at each call": MODES + """
    class Draws(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen[getattr(func, "__name__", str(func))] += 1
            torch.rand(1)
            return func(*args, **(kwargs or {}))
    with Draws():
        net, optimizer = train()
    end(net, optimizer)
    print(sorted(seen.items()))
    """,
    "a mode of operations draws at each call": MODES + """
    class Draws(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen[str(func)] += 1
            torch.rand(1)
            return func(*args, **(kwargs or {}))
    with Draws():
        net, optimizer = train()
    end(net, optimizer)
    print(sorted(seen.items()))
    """,
    "a mode refuses what it did not see before": MODES + """
    class Refuses(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if self.learned and func not in seen:
                raise RuntimeError(f"never seen: {func}")
            seen[func] += 1
            return func(*args, **(kwargs or {}))
    mode = Refuses()
    mode.learned = False
    with mode:
        net, optimizer = train(steps=3)
        mode.learned = True
        train(net, optimizer)
    end(net, optimizer)
    """,
    "modes around modes, entered and left at each step": MODES + """
    class Counts(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen["functions"] += 1
            return func(*args, **(kwargs or {}))
    class Operations(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen["operations"] += 1
            return func(*args, **(kwargs or {}))
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    for step in range(70):
        x, y = batch()
        optimizer.zero_grad()
        with Counts(), Operations(), Counts():
            loss = F.cross_entropy(net(x), y)
        with Operations():
            loss.backward()
        with Counts():
            optimizer.step()
    end(net, optimizer)
    print(sorted(seen.items()))
    """,
    "a class of tensors counts what is done with it": MODES + """
    class Counted(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen[getattr(func, "__name__", str(func))] += 1
            return super().__torch_function__(func, types, args, kwargs or {})
    net = model()
    net[0].weight = nn.Parameter(net[0].weight.detach().as_subclass(Counted))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(70):
        x, y = batch()
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x.as_subclass(Counted)), y)
        loss.backward()
        optimizer.step()
    print(sorted(seen.items()))
    torch._C.DisableTorchFunction().__enter__()
    end(*[p.as_subclass(torch.Tensor) for p in net.state_dict().values()])
    """,
    "a wrapper around tensors counts operations": MODES + """
    class Wrapped(torch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        def __init__(self, inner):
            self.inner = inner
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen[str(func)] += 1
            def inner(value):
                return value.inner if isinstance(value, Wrapped) else value
            from torch.utils._pytree import tree_map
            result = func(*tree_map(inner, args), **tree_map(inner, kwargs or {}))
            return tree_map(lambda value: Wrapped(value) if isinstance(value, torch.Tensor) else value, result)
    net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(70):
        x, y = batch()
        optimizer.zero_grad()
        loss = F.cross_entropy(net(Wrapped(x)), y)
        train(steps=0)
        F.mse_loss(net(x), torch.zeros(8, 3)).backward()
        optimizer.step()
    print(sorted(seen.items()))
    end(net, optimizer)
    """,
    "fake tensors before real ones": """
    from tiny import *
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode() as mode:
        net, optimizer = train(steps=5)
        print(type(net[0].weight), type(batch()[0]), net(batch()[0]).shape)
    end(*train())
    """,
    "operations are counted by torch's own counter": """
    from tiny import *
    from torch.utils.flop_counter import FlopCounterMode
    net, optimizer = train(steps=3)
    with FlopCounterMode(net, display=False) as counter:
        train(net, optimizer)
    print(counter.get_total_flops(), sorted((k, sorted(map(str, v.items()))) for k, v in counter.flop_counts.items()))
    end(net, optimizer)
    """,
    "a device is set for everything": """
    from tiny import *
    torch.set_default_device("cpu")
    end(*train())
    with torch.device("meta"):
        net = model()
        print(net(torch.empty(4, 6)).shape, net[0].weight.device)
    torch.set_default_dtype(torch.float64)
    end(*train())
    """,
    "in inference mode between steps": """
    from tiny import *
    net, optimizer = train(steps=5)
    sums = []
    def each(step):
        net.eval()
        with torch.inference_mode():
            out = net(torch.ones(2, 6))
            sums.append(F.mse_loss(out, torch.zeros(2, 3)).item())
        net.train()
    train(net, optimizer, each=each)
    end(net, optimizer, sums, out.is_inference())
    """,
    "anomalies are looked for": """
    from tiny import *
    with torch.autograd.detect_anomaly():
        net, optimizer = train(steps=20)
        try:
            torch.sqrt(torch.zeros(2, requires_grad=True) * torch.tensor([0.0, 1.0])).sum().backward()
        except RuntimeError as error:
            print(error)
    end(net, optimizer)
    """,
    "what is saved for a backward is packed": MODES + """
    def pack(tensor):
        seen["packed"] += 1
        return tensor.clone()
    def unpack(tensor):
        seen["unpacked"] += 1
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        net, optimizer = train()
    end(net, optimizer)
    print(sorted(seen.items()))
    """,
    "only deterministic algorithms": """
    from tiny import *
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    end(*train())
    """,
    "the profiler records its calls": """
    import os
    os.environ["KINETO_LOG_LEVEL"] = "5"  # its complaints hold the time
    from tiny import *
    from torch.profiler import ProfilerActivity, profile
    net, optimizer = train(steps=70)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        train(net, optimizer, steps=20)
    names = {"aten::linear", "aten::addmm", "aten::native_batch_norm", "aten::cross_entropy_loss",
             "Optimizer.step#Adam.step", "Optimizer.zero_grad#Adam.zero_grad", "aten::native_dropout"}
    print(sorted((e.key, e.count) for e in profiler.key_averages() if e.key in names))
    end(net, optimizer)
    """,
}
