"""Programs that look at the warnings, the logs and the memory of their interpreter."""

PROGRAMS = {
    "objects that tell when they go": """
    import gc, weakref
    from tiny import *
    gone = []
    class Net(nn.Sequential):
        def __del__(self):
            gone.append(type(self).__name__)
    class Optimizer(torch.optim.SGD):
        def __del__(self):
            gone.append("optimizer")
    for turn in range(4):
        net = Net(nn.Linear(6, 4), nn.Linear(4, 3))
        optimizer = Optimizer(net.parameters(), 0.1)
        weakref.finalize(net[0].weight, gone.append, "weight")
        x, y = batch()
        loss = F.cross_entropy(net(x), y)
        weakref.finalize(loss, gone.append, "loss")
        weakref.finalize(x, gone.append, "batch")
        loss.backward()
        optimizer.step()
        del x, loss
        gone.append("before")
        del optimizer, net
        gone.append("after")
        gc.collect()
        gone.append("collected")
    print(gone)
    """,
    "references are counted": """
    import gc, sys
    from tiny import *
    net, optimizer = train(steps=3)
    counts = []
    def each(step):
        things = [net, optimizer, *net.parameters(), *(p.grad for p in net.parameters()), net[0].weight.grad_fn]
        counts.append([sys.getrefcount(thing) for thing in things[:-1]])
        counts.append([len(gc.get_referrers(p)) for p in net.parameters()])
    train(net, optimizer, each=each)
    print(len(counts), digest(counts), counts[-2], counts[-1])
    end(net, optimizer)
    """,
    "tensors that live are counted": """
    import gc
    from tiny import *
    net, optimizer = train(steps=3)
    counts = []
    def each(step):
        gc.collect()
        counts.append(sum(isinstance(o, torch.Tensor) and o.requires_grad for o in gc.get_objects()))
    train(net, optimizer, each=each)
    print([count - counts[0] for count in counts])
    """,
    "the collector is off, and frozen": """
    import gc
    gc.disable()
    from tiny import *
    gc.set_threshold(3, 2, 2)
    gc.freeze()
    net, optimizer = train()
    print(gc.isenabled(), gc.get_threshold(), gc.garbage, gc.get_debug())
    end(net, optimizer)
    """,
    "warnings are errors in its own lines": """
    import warnings
    from tiny import *
    warnings.filterwarnings("error", module="__main__")
    net, optimizer = train(steps=3)
    for turn in range(2):
        try:
            F.mse_loss(net(torch.ones(4, 6)), torch.zeros(4, 1))
            torch.optim.lr_scheduler.StepLR(torch.optim.SGD(net.parameters(), 0.1), 3).step()
        except UserWarning as warning:
            print("warned", str(warning)[:60])
    end(*train(net, optimizer))
    F.l1_loss(net(torch.ones(4, 6)), torch.zeros(4, 1))
    """,
    "all warnings are errors": """
    import warnings
    import torch
    from tiny import *
    warnings.simplefilter("error")
    end(*train())
    """,
    "warnings are shown by a function of its own": """
    import warnings
    def show(message, category, file, line, *rest):
        print("warned", category.__name__, file.rpartition("/")[2], line)
    warnings.showwarning = show
    warnings.simplefilter("always")
    from tiny import *
    net, optimizer = train(steps=3)
    warnings.warn("mine", stacklevel=1)
    F.mse_loss(net(torch.ones(4, 6)), torch.zeros(4, 1))
    with warnings.catch_warnings(record=True) as caught:
        F.mse_loss(net(torch.ones(4, 6)), torch.zeros(4, 1))
        schedule = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(net.parameters(), 0.1), 3)
        schedule.step()
        schedule.step(5)
    print([(w.category.__name__, w.filename.rpartition("/")[2], w.lineno) for w in caught])
    end(*train(net, optimizer))
    print(len(warnings.filters), sorted(k for k in globals().get("__warningregistry__", {}) if k != "version"))
    """,
    "logs of everything": """
    import logging, sys
    logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(name)s %(funcName)s %(message)s")
    from tiny import *
    log = logging.getLogger("mine")
    end(*train(each=lambda step: log.info("step %d", step)))
    print(sorted(logging.root.manager.loggerDict) == sorted(logging.root.manager.loggerDict), logging.root.handlers)
    """,
    "memory is traced": """
    import faulthandler, tracemalloc
    faulthandler.enable()
    tracemalloc.start(5)
    from tiny import *
    end(*train(steps=20))
    print(tracemalloc.is_tracing(), tracemalloc.get_traceback_limit(), faulthandler.is_enabled())
    tracemalloc.stop()
    """,
}
