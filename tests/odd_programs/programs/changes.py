"""Programs whose weights, groups, states and schedules change in unusual ways."""

PROGRAMS = {
    "parametrized, tied and frozen": """
    from torch.nn.utils.parametrizations import spectral_norm, weight_norm
    from tiny import *
    torch.manual_seed(1)
    net = nn.Sequential(spectral_norm(nn.Linear(6, 6)), weight_norm(nn.Linear(6, 6)), nn.Linear(6, 6), nn.Linear(6, 3))
    net[2].weight = net[3].other = nn.Parameter(torch.eye(6))
    net[2].bias.requires_grad_(False)
    def each(step):
        net[2].bias.requires_grad_(step % 2 == 0)
    end(*train(net, each=each))
    """,
    "averages of weights": """
    from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn
    from tiny import *
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    average, moving = AveragedModel(net), AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    schedule = SWALR(optimizer, 0.05)
    def each(step):
        average.update_parameters(net)
        moving.update_parameters(net)
        schedule.step()
    train(net, optimizer, each=each)
    update_bn([torch.randn(8, 6)], average)
    end(net, optimizer, average, moving, schedule.state_dict())
    """,
    "lazy modules": """
    from tiny import *
    torch.manual_seed(1)
    net = nn.Sequential(nn.LazyLinear(8), nn.LazyBatchNorm1d(), nn.ReLU(), nn.LazyLinear(3))
    print(type(net[0]).__name__, net[0].has_uninitialized_params())
    net(torch.ones(2, 6))
    print(type(net[0]).__name__)
    end(*train(net))
    """,
    "loaders in loaders": """
    from tiny import *
    data = torch.utils.data.TensorDataset(torch.randn(16, 6), torch.arange(16) % 3)
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    outer = torch.utils.data.DataLoader(data, 8, shuffle=True)
    inner = torch.utils.data.DataLoader(data, 4, shuffle=True, generator=torch.Generator().manual_seed(5))
    for x, y in outer:
        for (a, b), (c, d) in zip(inner, outer):
            optimizer.zero_grad()
            (F.cross_entropy(net(a), b) + F.cross_entropy(net(c), d)).backward()
            optimizer.step()
    end(net, optimizer)
    """,
    "random states are put back": """
    import random
    from tiny import *
    net, optimizer = train(steps=3)
    generator = torch.Generator().manual_seed(2)
    def each(step):
        with torch.random.fork_rng():
            torch.manual_seed(step)
            torch.rand(3)
        state = torch.get_rng_state(), random.getstate()
        torch.seed() if step % 7 == 0 else torch.randn(2)
        torch.set_rng_state(state[0])
        random.setstate(state[1])
        torch.randperm(4, generator=generator)
    train(net, optimizer, each=each)
    end(net, optimizer, generator.get_state(), torch.initial_seed() > 0)
    """,
    "schedules of many kinds": """
    from tiny import *
    from torch.optim import lr_scheduler as schedules
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    kinds = [schedules.StepLR(optimizer, 10), schedules.OneCycleLR(optimizer, 0.2, total_steps=80),
             schedules.LambdaLR(optimizer, lambda step: 0.9 ** step), schedules.CyclicLR(optimizer, 0.01, 0.1)]
    plateau = schedules.ReduceLROnPlateau(optimizer, patience=2)
    rates = []
    def each(step):
        kinds[step % 4].step()
        plateau.step(step % 5)
        rates.append(optimizer.param_groups[0]["lr"])
    train(net, optimizer, each=each)
    end(net, optimizer, rates, [k.state_dict() for k in kinds[:2]], plateau.state_dict())
    """,
    "no step at all": """
    from tiny import *
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    print(net(batch()[0]).shape)
    end(net, optimizer)
    """,
    "one step": """
    from tiny import *
    end(*train(steps=1))
    """,
    "groups and parameters come and go": """
    from tiny import *
    net = model()
    optimizer = torch.optim.Adam(net[0].parameters(), 1e-2)
    def each(step):
        if step == 3:
            optimizer.add_param_group({"params": list(net[4].parameters()), "lr": 0.5})
        if step == 30:
            del optimizer.param_groups[1]
        if step == 66:
            net[4] = nn.Linear(16, 3)
            optimizer.add_param_group({"params": list(net[4].parameters())})
        if step == 68:
            optimizer.state.clear()
    end(*train(net, optimizer, each=each))
    """,
    "weights are changed by hand": """
    from tiny import *
    net, optimizer = train(steps=3)
    versions = []
    def each(step):
        net[0].weight.data.clamp_(-0.1, 0.1)
        with torch.no_grad():
            net[4].bias.copy_(net[4].bias.roll(1))
        net[4].weight.data = net[4].weight.data.clone()
        versions.append([(p._version, p.grad._version, p.grad_fn is None) for p in net.parameters()])
    train(net, optimizer, each=each)
    end(net, optimizer, versions)
    """,
    "weights are views of one memory": """
    from tiny import *
    torch.manual_seed(1)
    flat = torch.randn(6 * 3 + 3)
    net = nn.Linear(6, 3)
    net.weight.data, net.bias.data = flat[:18].view(3, 6), flat[18:]
    grads = torch.zeros(21)
    net.weight.grad, net.bias.grad = grads[:18].view(3, 6), grads[18:]
    for step in range(70):
        x, y = batch()
        grads.zero_()
        F.cross_entropy(net(x), y).backward()
        flat -= 0.1 * grads
    end(net, flat, grads, net.weight.data_ptr() == flat.data_ptr())
    """,
}
