"""Programs that take models and functions apart, compile them, copy them, or write them to files whole."""

PROGRAMS = {
    "gradients by torch.func": """
    from tiny import *
    net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    weights = {name: p.detach() for name, p in net.named_parameters()}
    def loss_of(weights, x, y):
        return F.cross_entropy(torch.func.functional_call(net, weights, (x,)), y)
    for step in range(70):
        gradients, loss = torch.func.grad_and_value(loss_of)(weights, *batch())
        weights = {name: p - 0.1 * gradients[name] for name, p in weights.items()}
    x, y = batch()
    each = torch.func.vmap(torch.func.grad(loss_of), (None, 0, 0))(weights, x, y)
    print(torch.func.jvp(torch.sin, (torch.ones(2),), (torch.ones(2),)))
    print(torch.func.hessian(lambda v: (v ** 3).sum())(torch.ones(2)))
    end(weights, loss, each)
    """,
    "scripted and traced while it trains": """
    import os
    from tiny import *
    @torch.jit.script
    def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
        return x * factor
    net, optimizer = train(steps=3)
    traced = torch.jit.trace(net.eval(), torch.ones(2, 6))
    scripted = torch.jit.script(net)
    net.train()
    train(net, optimizer, loss=lambda o, y: F.cross_entropy(scaled(o, 2.0), y))
    torch.jit.save(scripted, "scripted.pt")
    print(traced.code, scripted.code, torch.jit.load("scripted.pt")(torch.ones(1, 6)))
    os.remove("scripted.pt")  # it holds names that are made up anew in each run
    end(net, optimizer)
    """,
    "a scripted model trains": """
    from tiny import *
    net = torch.jit.script(model())
    end(*train(net))
    """,
    "compiled with a backend of its own": """
    from tiny import *
    import torch._dynamo
    graphs = []
    def backend(graph, inputs):
        graphs.append(len(graph.graph.nodes))
        return graph.forward
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    train(torch.compile(net, backend=backend), optimizer, steps=70)
    end(net, optimizer)
    print(graphs, dict(torch._dynamo.utils.counters["frames"]))
    """,
    "compiled eagerly in the middle of the run": """
    from tiny import *
    net, optimizer = train(steps=66)
    train(torch.compile(net, backend="eager", fullgraph=True), optimizer, steps=10)
    end(net, optimizer)
    """,
    "a whole step is compiled": """
    from tiny import *
    import torch._dynamo
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    @torch.compile(backend="eager")
    def step(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        return loss
    losses = []
    for _ in range(12):
        optimizer.zero_grad()
        losses.append(step(*batch()).item())
        optimizer.step()
    end(net, optimizer, losses)
    print(dict(torch._dynamo.utils.counters["frames"]), sorted(torch._dynamo.utils.counters["graph_break"].values()))
    """,
    "traced symbolically and changed": """
    from tiny import *
    net = model()
    traced = torch.fx.symbolic_trace(net)
    for node in traced.graph.nodes:
        if node.op == "call_module" and isinstance(traced.get_submodule(node.target), nn.ReLU):
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(torch.tanh, (node,))
                node.replace_all_uses_with(new)
                new.args = (node,)
            break
    traced.recompile()
    print(traced.code)
    end(*train(traced))
    """,
    "exported between steps": """
    from tiny import *
    net, optimizer = train(steps=5)
    exported = torch.export.export(net.eval(), (torch.ones(2, 6),))
    print([node.name for node in exported.graph.nodes])
    net.train()
    end(*train(net, optimizer))
    """,
    "copied deeply while it trains": """
    import copy
    from tiny import *
    copies = []
    net, optimizer = train(steps=3)
    def each(step):
        copies.append(copy.deepcopy(net))
    train(net, optimizer, each=each, steps=8)
    other = copy.deepcopy((net, optimizer))
    end(net, optimizer, *other, copies)
    end(*train(*other, steps=8))
    print(sorted(vars(copies[-1])), sorted(vars(optimizer)))
    """,
    "pickled whole": """
    import io, os, pickle, pickletools
    from tiny import *
    net, optimizer = train(steps=70)
    text = pickle.dumps(net)
    print(len(text), [arg for op, arg, _ in pickletools.genops(text) if op.name == "GLOBAL"])
    print(len(pickle.dumps(optimizer)), digest(pickle.loads(text)))
    torch.save(net, "net.pt")
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, "state.pt")
    torch.save({"net": net, "old": True}, "old.pt", _use_new_zipfile_serialization=False)
    print(os.path.getsize("old.pt"), digest(torch.load("old.pt", weights_only=False)["net"]))
    os.remove("old.pt")  # it holds addresses
    buffer = io.BytesIO()
    torch.save(optimizer, buffer)
    end(torch.load("net.pt", weights_only=False), torch.load("state.pt"), digest(buffer.getvalue()))
    """,
    "functions of torch are pickled and looked into": """
    import inspect, pickle
    from tiny import *
    train(steps=3)
    for f in (F.cross_entropy, F.mse_loss, torch.save, torch.load, torch.manual_seed, nn.Module.train,
              nn.Module.zero_grad, torch.optim.Optimizer.zero_grad, torch.optim.SGD.step, torch.autograd.backward,
              nn.utils.clip_grad_norm_, torch.compile, torch.no_grad.__enter__, torch.Tensor.backward,
              torch.nn.Module.load_state_dict, torch.optim.lr_scheduler.StepLR.step, torch.Tensor.item):
        where = getattr(f, "__module__", ""), getattr(f, "__qualname__", ""), f.__name__, hasattr(f, "__wrapped__")
        try:
            text = inspect.getsource(f), str(inspect.signature(f)), inspect.getsourcefile(f).rpartition("torch")[2]
        except (TypeError, ValueError) as error:
            text = str(error)
        try:
            same = pickle.loads(pickle.dumps(f)) is f
        except Exception as error:
            same = type(error).__name__
        print(where, digest(text), same)
    """,
    "a checkpoint is written and read at each epoch": """
    import os
    from tiny import *
    net, optimizer = train(steps=4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
    for epoch in range(6):
        train(net, optimizer, steps=3)
        schedule.step()
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(),
                    "random": torch.get_rng_state()}, "new.pt")
        os.replace("new.pt", "state.pt")
        state = torch.load("state.pt")
        net.load_state_dict(state["net"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["random"])
    end(net, optimizer, schedule.state_dict())
    """,
    "activations are computed again": """
    from torch.utils.checkpoint import checkpoint
    from tiny import *
    calls = []
    class Part(nn.Sequential):
        def forward(self, x):
            calls.append(torch.is_grad_enabled())
            return super().forward(x)
    part = Part(nn.Linear(6, 6), nn.Dropout(0.3), nn.Tanh())
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.part, self.head = part, nn.Linear(6, 3)
        def forward(self, x):
            x = checkpoint(self.part, x, use_reentrant=False)
            return self.head(checkpoint(self.part, x.requires_grad_() if x.is_leaf else x, use_reentrant=True))
    end(*train(Net()))
    print(len(calls), sum(calls))
    """,
}
