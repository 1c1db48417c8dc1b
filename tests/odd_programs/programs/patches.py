"""Programs that put functions of their own in the places of others, or objects with strange methods."""

COUNTS = """
    import builtins, collections, io, os, random, sys, time
    seen = collections.Counter()
    def counting(owner, name, key=None, own=False):
        # Counts the calls of a function; of its own code alone where `own`.
        original = getattr(owner, name)
        def call(*args, **kwargs):
            if not own or sys._getframe(1).f_code.co_filename.endswith(("program.py", "tiny.py")):
                seen[key or name] += 1
            return original(*args, **kwargs)
        setattr(owner, name, call)
"""

PROGRAMS = {
    "functions that open files are its own": COUNTS + """
    from tiny import *
    for name in ("open",):
        counting(builtins, name, "builtins.open")
        counting(io, name, "io.open")
    for name in ("open", "write", "read", "close", "fstat", "ftruncate", "pwrite", "pread", "lseek",
                 "posix_fallocate", "makedirs", "mkdir", "listdir", "getpid", "getenv", "dup", "dup2"):
        counting(os, name)
    net, optimizer = train()
    print(sorted(seen.items()))
    end(net, optimizer)
    """,
    "functions that open files are its own from the start": COUNTS + """
    import torch
    counting(builtins, "open", "builtins.open")
    for name in ("write", "fstat", "ftruncate", "pwrite", "pread", "lseek", "posix_fallocate", "makedirs"):
        counting(os, name)
    from tiny import *
    net, optimizer = train()
    print(sorted(seen.items()))
    end(net, optimizer)
    """,
    "clocks are its own": COUNTS + """
    from tiny import *
    ticks = iter(range(10 ** 9))
    for name in ("time", "monotonic", "perf_counter", "process_time"):
        setattr(time, name, lambda name=name: seen.update([name]) or float(next(ticks)))
        setattr(time, name + "_ns", lambda name=name: seen.update([name + "_ns"]) or next(ticks))
    net, optimizer = train()
    print(sorted(seen.items()), next(ticks))
    end(net, optimizer)
    """,
    "clocks are frozen before torch is imported": COUNTS + """
    time.time = time.monotonic = time.perf_counter = lambda: seen.update(["clock"]) or 5.0
    time.monotonic_ns = time.perf_counter_ns = time.time_ns = lambda: seen.update(["clock in ns"]) or 5
    import torch
    seen.clear()
    from tiny import *
    net, optimizer = train()
    print(sorted(seen.items()))
    end(net, optimizer)
    """,
    "random functions are its own": COUNTS + """
    from tiny import *
    for name in ("seed", "random", "getstate", "setstate"):
        counting(random, name)
    for name in ("manual_seed", "initial_seed", "get_rng_state", "set_rng_state", "rand", "randn", "randint", "stack",
                 "isfinite", "equal", "is_grad_enabled", "is_tensor"):
        counting(torch, name, own=True)
    net, optimizer = train()
    print(sorted(seen.items()))
    end(net, optimizer)
    """,
    "methods of tensors are its own": COUNTS + """
    from tiny import *
    for name in ("item", "tolist", "detach", "clone", "sum", "norm", "numel", "dim", "to", "cpu", "double", "reshape",
                 "view", "backward", "__eq__", "__bool__", "is_floating_point", "is_complex", "data_ptr", "zero_"):
        counting(torch.Tensor, name, f"Tensor.{name}", own=True)
    net, optimizer = train()
    counted = sorted(seen.items())
    end(net, optimizer)
    print(counted)
    """,
    "methods of modules are its own": COUNTS + """
    from tiny import *
    for name in ("parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "buffers",
                 "named_buffers", "state_dict", "load_state_dict", "train", "eval", "zero_grad", "__call__", "apply"):
        counting(nn.Module, name, f"Module.{name}")
    for name in ("zero_grad", "state_dict", "add_param_group"):
        counting(torch.optim.Optimizer, name, f"Optimizer.{name}")
    net, optimizer = train()
    print(sorted(seen.items()))
    end(net, optimizer)
    """,
    "losses are its own": COUNTS + """
    from tiny import *
    import tiny
    original = F.cross_entropy
    def smoothed(*args, **kwargs):
        seen["loss"] += 1
        return original(*args, label_smoothing=0.1, **kwargs)
    F.cross_entropy = smoothed
    end(*train(loss=F.cross_entropy))
    end(*train(loss=nn.CrossEntropyLoss()))
    F.cross_entropy = original
    end(*train(loss=nn.CrossEntropyLoss()))
    print(sorted(seen.items()), F.cross_entropy is original)
    """,
    "what it prints with is its own": COUNTS + """
    class Tagged(io.TextIOBase):
        def write(self, text):
            seen["written"] += 1
            return sys.__stdout__.write(text.upper())
        def flush(self):
            seen["flushed"] += 1
    sys.stdout = sys.stderr = Tagged()
    builtins.print, old = lambda *args, **kw: old("<", *args, ">", **kw), print
    from tiny import *
    net, optimizer = train()
    print("done")
    end(net, optimizer)
    print(sorted(seen.items()))
    """,
    "len, repr, hash and sums are its own": COUNTS + """
    from tiny import *
    names = ("len", "repr", "hash", "sorted", "sum", "min", "max")
    kept = {name: getattr(builtins, name) for name in names}
    for name in names:
        counting(builtins, name, own=True)
    net, optimizer = train()
    for name in names:
        setattr(builtins, name, kept[name])
    print(sorted(seen.items()))
    end(net, optimizer)
    """,
    "an optimizer with a step of its own": COUNTS + """
    from tiny import *
    class Odd(torch.optim.Optimizer):
        def __init__(self, parameters):
            super().__init__(parameters, {"lr": 0.05, "odd": self})
        def step(self, scale=1.0, *more, **options):
            seen["step"] += 1
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.data.add_(p.grad, alpha=-group["lr"] * scale)
                        self.state[p]["count"] = self.state[p].get("count", 0) + 1
            return "anything"
        def __len__(self):
            seen["len"] += 1
            return 0
        def __getattr__(self, name):
            seen[f"getattr {name}"] += 1
            raise AttributeError(name)
    net = model()
    optimizer = Odd(net.parameters())
    results = set()
    for step in range(70):
        x, y = batch()
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        results.add(optimizer.step(0.5, 1, 2, key=3))
    print(sorted(seen.items()), results)
    end(net, [s["count"] for s in optimizer.state.values()])
    """,
}
