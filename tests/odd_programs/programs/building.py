"""Programs that look at how their layers, loaders and losses are made, and evaluate in unusual ways."""

PROGRAMS = {
    "constructors that look around": """
    import inspect, sys, traceback
    from tiny import *
    depths = []
    class Curious(nn.Module):
        def __init__(self, width):
            depths.append((len(inspect.stack()), sys._getframe(1).f_code.co_name, sys._getframe(1).f_lineno))
            super().__init__()
            depths.append(sorted(vars(self)))
            self.inner = nn.Linear(width, 3)
        def forward(self, x):
            return self.inner(x)
    class Late(Curious):
        def __init__(self):
            try:
                self.inner = nn.Linear(2, 2)
            except AttributeError as error:
                depths.append(str(error))
            Curious.__init__(self, 6)
            nn.Module.__init__(self)
            self.inner = nn.Linear(6, 3)
    try:
        nn.Module(1, 2, wrong=3)
    except TypeError as error:
        traceback.print_exc()
        print(error)
    print(inspect.signature(nn.Module.__init__), nn.Module.__init__.__qualname__)
    net = nn.Sequential(Curious(6), nn.Tanh(), nn.Linear(3, 6), Late())
    print(depths)
    end(*train(net), depths)
    """,
    "constructors of its own in the place of torch's": """
    from tiny import *
    calls, original = [], nn.Module.__init__
    def counted(self, *args, **kwargs):
        calls.append(type(self).__name__)
        original(self, *args, **kwargs)
    nn.Module.__init__ = counted
    net = model()
    nn.Module.__init__ = original
    class Meta(type):
        def __call__(cls, *args, **kwargs):
            calls.append(cls.__name__)
            return super().__call__(*args, **kwargs)
    class Made(nn.Module, metaclass=Meta):
        def __init__(self):
            super().__init__()
            self.last = nn.Linear(3, 3)
        def forward(self, x):
            return self.last(x)
        def __eq__(self, other):
            calls.append("eq")
            return self is other
        __hash__ = nn.Module.__hash__
    net.append(Made())
    print(calls)
    end(*train(net), len(calls))
    """,
    "loaders with constructors of their own": """
    import inspect
    from tiny import *
    class Loader(torch.utils.data.DataLoader):
        made = 0
        def __init__(self, *args, **kwargs):
            Loader.made += 1
            super().__init__(*args, **kwargs)
            torch.rand(1)
    print(inspect.signature(torch.utils.data.DataLoader.__init__), inspect.signature(Loader))
    for wrong in ({"batch_size": 2, "sampler": [1], "shuffle": True}, {"num_workers": -1}, {"nothing": 1}):
        try:
            Loader([1, 2, 3], **wrong)
        except (ValueError, TypeError) as error:
            print(type(error).__name__, error)
    data = torch.utils.data.TensorDataset(torch.randn(24, 6), torch.arange(24) % 3)
    net, optimizer = model(), None
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(9):
        for x, y in Loader(data, 8, shuffle=True):
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
    end(net, optimizer, Loader.made)
    """,
    "evaluations as in training, with outputs of all kinds": """
    import collections
    from tiny import *
    asked = collections.Counter()
    class Record(dict):
        def values(self):
            asked["values"] += 1
            return super().values()
        def __iter__(self):
            asked["iter of a dict"] += 1
            return super().__iter__()
        def __len__(self):
            asked["len"] += 1
            return super().__len__()
    class Pair(tuple):
        def __iter__(self):
            asked["iter of a tuple"] += 1
            return super().__iter__()
    class Row(list):
        def __iter__(self):
            asked["iter of a list"] += 1
            return super().__iter__()
    class Own:
        def __init__(self, scores):
            self.scores = scores
        def __getattr__(self, name):
            asked[name] += 1
            raise AttributeError(name)
    class Net(nn.Module):
        def __init__(self, gives):
            super().__init__()
            self.inner, self.gives = model(), gives
        def forward(self, x):
            return self.gives(self.inner(x))
    kinds = (lambda h: Record(scores=h), lambda h: Pair((h, [h * 2])), lambda h: Row([h, None, 3]), Own)
    taken = (lambda out: dict.__getitem__(out, "scores"), lambda out: out[0], lambda out: out[0], lambda out: out.scores)
    for gives, take in zip(kinds, taken):
        net = Net(gives)
        kept = []
        def each(step):
            if step % 20 == 7:
                for number in range(9):
                    out = net(torch.full((4, 6), float(number)))
                    kept.append(take(out).sum().item())
        end(*train(net, each=each, loss=lambda out, y: F.cross_entropy(take(out), y)), kept, sorted(asked.items()))
    """,
    "losses with a minus, and what their graphs save is packed": """
    from tiny import *
    packs = []
    def pack(tensor):
        packs.append("in")
        return tensor
    def unpack(tensor):
        packs.append("out")
        return tensor
    mask = (torch.arange(8) % 2)[:, None].float()
    def loss(out, y):
        return -((out - y[:, None]) ** 2 * mask).sum() / mask.sum() * 1e-3
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        net, optimizer = train(loss=loss)
    print(len(packs), packs.count("out"))
    end(net, optimizer)
    """,
}
