"""Programs whose models, data and keys have special methods that count, and that look at references, warnings
and the collector of garbage."""

COUNTED = """
    import collections
    seen = collections.Counter()
    def counted(*names):
        # A class whose special methods are counted.
        class Counted:
            pass
        def method(name):
            def call(self, *args):
                seen[name] += 1
                original = getattr(super(Counted, self), name, None)
                if original is None:
                    raise AttributeError(name)
                return original(*args)
            return call
        for name in names:
            setattr(Counted, name, method(name))
        return Counted
"""

PROGRAMS = {
    "a model whose special methods count": COUNTED + """
    from tiny import *
    class Net(counted("__getattr__", "__setattr__", "__repr__", "__eq__", "__hash__", "__len__", "__bool__", "__call__",
                      "__iter__", "__dir__", "__contains__", "__delattr__", "named_parameters", "parameters", "modules",
                      "named_modules", "children", "state_dict", "extra_repr", "_get_name"), nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(6, 8), nn.Linear(8, 3)
            self.extra = [1, {"a": 2}]
        def forward(self, x):
            return self.head(self.body(x).relu())
        def __eq__(self, other):
            seen["eq"] += 1
            return True
        __hash__ = nn.Module.__hash__
        def __len__(self):
            seen["len"] += 1
            return 0
    net = Net()
    seen.clear()
    optimizer = torch.optim.SGD(list(net.body.parameters()), 0.1)
    net, optimizer = train(net, optimizer)
    print(sorted(seen.items()))
    end(net, optimizer)
    """,
    "attributes of a model with special methods": COUNTED + """
    from tiny import *
    class Key:
        def __init__(self, name):
            self.name = name
        def __repr__(self):
            seen["repr"] += 1
            return f"Key({self.name})"
        def __eq__(self, other):
            seen["eq"] += 1
            return self is other
        def __hash__(self):
            seen["hash"] += 1
            return 7
        def __len__(self):
            seen["len"] += 1
            return 3
        def __bool__(self):
            seen["bool"] += 1
            raise TypeError("neither true nor false")
        def __getattr__(self, name):
            seen[f"getattr {name}"] += 1
            raise AttributeError(name)
    class Listed(list):
        def __iter__(self):
            seen["iter"] += 1
            return super().__iter__()
        def __getitem__(self, index):
            seen["getitem"] += 1
            return super().__getitem__(index)
    net = model()
    keys = [Key(n) for n in "abc"]
    net.table = {key: nn.Linear(2, 2) for key in keys}
    net.listed = Listed([torch.ones(2, requires_grad=True), keys[0]])
    net.key = keys[1]
    net.tuple = (keys[2], {keys[0]: 1})
    seen.clear()
    net, optimizer = train(net)
    print(sorted(seen.items()))
    end(*[p for p in net.parameters()], optimizer)
    """,
    "a data set that counts each question": """
    import collections
    seen = collections.Counter()
    from tiny import *
    class Data(torch.utils.data.Dataset):
        def __len__(self):
            seen["len"] += 1
            return 24
        def __getitem__(self, index):
            seen["getitem"] += 1
            return torch.full((6,), float(index)), index % 3
        def __getattr__(self, name):
            seen[f"getattr {name}"] += 1
            raise AttributeError(name)
        def __eq__(self, other):
            seen["eq"] += 1
            return True
        __hash__ = None
    class Order(torch.utils.data.Sampler):
        def __iter__(self):
            seen["order"] += 1
            return iter(range(24))
        def __len__(self):
            seen["len of order"] += 1
            return 24
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    data = Data()
    for options in ({"shuffle": True}, {"sampler": Order()}, {}):
        for epoch in range(2):
            for x, y in torch.utils.data.DataLoader(data, 8, **options):
                optimizer.zero_grad()
                F.cross_entropy(net(x), y).backward()
                optimizer.step()
    loader = torch.utils.data.DataLoader(data, 8)
    for epoch in range(3):
        for x, y in loader:
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
    print(sorted(seen.items()))
    end(net, optimizer)
    """,
    "a data set without an end, and one without a length": """
    import itertools
    from tiny import *
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            for number in itertools.count():
                yield torch.randn(6), number % 3
    class Wrong(torch.utils.data.IterableDataset):
        def __len__(self):
            raise RuntimeError("nobody knows")
        def __iter__(self):
            return ((torch.randn(6), n % 3) for n in range(16))
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for data in (Stream(), Wrong()):
        for x, y in itertools.islice(torch.utils.data.DataLoader(data, 8), 10):
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
    end(net, optimizer)
    """,
    "batches that are objects of its own": """
    import collections
    from tiny import *
    seen = collections.Counter()
    class Batch(collections.abc.Mapping):
        def __init__(self, items):
            self.items_ = {"x": torch.stack([i[0] for i in items]), "y": torch.tensor([i[1] for i in items])}
        def __getitem__(self, key):
            seen[key] += 1
            return self.items_[key]
        def __iter__(self):
            seen["iter"] += 1
            return iter(self.items_)
        def __len__(self):
            seen["len"] += 1
            return 2
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = model()
        def forward(self, batch, **options):
            return self.net(batch["x"])
    data = [(torch.full((6,), float(n)), n % 3) for n in range(24)]
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(4):
        for given in torch.utils.data.DataLoader(data, 8, collate_fn=Batch):
            optimizer.zero_grad()
            F.cross_entropy(net(given), given["y"]).backward()
            optimizer.step()
    print(sorted(seen.items()))
    end(net, optimizer)
    """,
}
