"""Programs that train in unusual ways."""

PROGRAMS = {
    "a closure is called many times": """
    from tiny import *
    net = model()
    optimizer = torch.optim.LBFGS(net.parameters(), 0.5, max_iter=4, line_search_fn="strong_wolfe")
    calls = [0]
    for step in range(12):
        x, y = batch()
        def closure():
            calls[0] += 1
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            return loss
        closure.mine = step
        loss = optimizer.step(closure)
    end(net, optimizer, loss)
    print(calls)
    """,
    "an optimizer looks at its closure": """
    from tiny import *
    class Looks(torch.optim.SGD):
        def step(self, closure=None):
            print(closure.__name__, closure.mine, closure.__code__.co_name, closure() is None)
            return super().step()
    net = model()
    optimizer = Looks(net.parameters(), 0.1)
    for step in range(3):
        def closure():
            F.cross_entropy(net(torch.ones(8, 6)), torch.zeros(8, dtype=torch.long)).backward()
        closure.mine = step
        optimizer.step(closure)
    end(net, optimizer)
    """,
    "gradients without backward": """
    from tiny import *
    net = model()
    for step in range(70):
        x, y = batch()
        gradients = torch.autograd.grad(F.cross_entropy(net(x), y), list(net.parameters()))
        with torch.no_grad():
            for p, g in zip(net.parameters(), gradients):
                p -= 0.1 * g
    end(net)
    """,
    "gradients of gradients": """
    from tiny import *
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(70):
        x, y = batch()
        loss = F.cross_entropy(net(x.requires_grad_()), y)
        (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
        optimizer.zero_grad()
        (loss + gradient.norm()).backward(retain_graph=True)
        loss.backward()
        optimizer.step()
    end(net, optimizer)
    """,
    "two models against each other": """
    from tiny import *
    torch.manual_seed(1)
    maker = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 6))
    judge = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
    first, second = torch.optim.Adam(maker.parameters(), 1e-3), torch.optim.RMSprop(judge.parameters(), 1e-3)
    for step in range(70):
        real, fake = torch.randn(8, 6), maker(torch.randn(8, 4))
        second.zero_grad()
        loss = F.softplus(-judge(real)).mean() + F.softplus(judge(fake.detach())).mean()
        loss.backward()
        second.step()
        first.zero_grad()
        F.binary_cross_entropy_with_logits(judge(fake), torch.ones(8, 1)).backward()
        first.step()
    end(maker, judge, first, second)
    """,
    "sparse gradients": """
    from tiny import *
    torch.manual_seed(1)
    table, head = nn.Embedding(20, 6, sparse=True), nn.Linear(6, 3)
    optimizers = torch.optim.SparseAdam(table.parameters(), 0.01), torch.optim.Adagrad(head.parameters(), 0.01)
    for step in range(70):
        loss = F.cross_entropy(head(table(torch.randint(20, (8,)))), torch.randint(3, (8,)))
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    end(table, head, *optimizers)
    """,
    "complex weights": """
    from tiny import *
    torch.manual_seed(1)
    weight = nn.Parameter(torch.randn(6, 3, dtype=torch.complex64))
    optimizer = torch.optim.Adam([weight], 0.01)
    for step in range(70):
        optimizer.zero_grad()
        out = torch.randn(8, 6, dtype=torch.complex64) @ weight
        F.mse_loss(torch.view_as_real(out), torch.ones(8, 3, 2)).backward()
        optimizer.step()
    end(weight, optimizer)
    """,
    "half precision": """
    from tiny import *
    net = model()
    optimizer = torch.optim.AdamW(net.parameters(), 1e-2)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    for step in range(70):
        x, y = batch()
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    half = model().bfloat16()
    other = torch.optim.SGD(half.parameters(), 0.1)
    train(half, other, loss=lambda o, y: F.cross_entropy(o.float(), y), steps=0)
    end(net, optimizer, scaler.state_dict(), half(torch.ones(4, 6).bfloat16()))
    """,
    "a scaler that meets infinities": """
    from tiny import *
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 100, growth_interval=3)
    for step in range(70):
        x, y = batch()
        optimizer.zero_grad()
        scaler.scale(F.cross_entropy(net(x), y) * 1e12).backward()
        scaler.step(optimizer)
        scaler.update()
    end(net, optimizer, scaler.state_dict())
    """,
    "losses that are not numbers": """
    from tiny import *
    net, optimizer = train(steps=3)
    def loss(output, target):
        return (output * float("nan")).sum() + output.log().sum()
    train(net, optimizer, loss=loss, steps=70)
    end(net, optimizer)
    """,
    "all ways to step": """
    from tiny import *
    for name in ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop"):
        kind = getattr(torch.optim, name)
        for options in ({"foreach": True}, {"foreach": False}, {"fused": True}, {"maximize": True}):
            net = model()
            try:
                optimizer = kind(net.parameters(), lr=0.01, **options)
            except (TypeError, RuntimeError, ValueError) as error:
                print(name, options, type(error).__name__)
                continue
            print(name, options, digest(*train(net, optimizer, steps=4)))
    """,
    "steps by functions": """
    from tiny import *
    from torch.optim._functional import adam
    net = model()
    parameters = list(net.parameters())
    first, second = [torch.zeros_like(p) for p in parameters], [torch.zeros_like(p) for p in parameters]
    counts = [torch.tensor(0.0) for _ in parameters]
    for step in range(70):
        x, y = batch()
        net.zero_grad()
        F.cross_entropy(net(x), y).backward()
        with torch.no_grad():
            adam(parameters, [p.grad for p in parameters], first, second, [], counts, foreach=False, capturable=False,
                 differentiable=False, fused=False, grad_scale=None, found_inf=None, has_complex=False, amsgrad=False,
                 beta1=0.9, beta2=0.99, lr=0.01, weight_decay=0.0, eps=1e-8, maximize=False)
    end(net, first, second, counts)
    """,
}
