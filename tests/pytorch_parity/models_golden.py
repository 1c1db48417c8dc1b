"""The models from the same weights against their twins in Python, and how weights begin."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from tests.pytorch_parity.golden import Golden, Subject, test_case

CONTEXT, VOCABULARY = 24, 65


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.projection = nn.Linear(width, width, bias=False)

    def forward(self, x, rotary):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, -1))
        if rotary:
            q, k = rotated(q), rotated(k)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.projection(mixed.transpose(1, 2).flatten(2))


def rotated(x):
    width = x.shape[-1]
    frequencies = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
    angles = torch.outer(torch.arange(x.shape[-2], dtype=torch.float32), frequencies)
    (a, b), cosine, sine = x.chunk(2, -1), angles.cos(), angles.sin()
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1)


class FeedForward(nn.Module):
    def __init__(self, width, gated):
        super().__init__()
        inner = -(-(width * 8 // 3) // 8) * 8 if gated else 4 * width
        self.gate = nn.Linear(width, inner, bias=False) if gated else None
        self.expansion = nn.Linear(width, inner, bias=False)
        self.projection = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        x, gate = self.expansion(x), self.gate(x) if self.gate else None
        return self.projection(F.gelu(x) if gate is None else F.silu(gate) * x)


class Block(nn.Module):
    def __init__(self, width, heads, norm, gated):
        super().__init__()
        self.attention_norm, self.attention = norm(width, eps=1e-5), Attention(width, heads)
        self.mlp_norm, self.mlp = norm(width, eps=1e-5), FeedForward(width, gated)

    def forward(self, x, rotary):
        x = x + self.attention(self.attention_norm(x), rotary)
        return x + self.mlp(self.mlp_norm(x))


class Transformer(nn.Module):
    def __init__(self, case):
        super().__init__()
        width = case.get("width", 128)
        norm = nn.RMSNorm if case.get("norm") == "rmsnorm" else nn.LayerNorm
        self.embedding = nn.Embedding(case.get("vocabulary", VOCABULARY), width)
        learned = case.get("positions") == "learned"
        self.positions = nn.Embedding(CONTEXT, width) if learned else None
        self.blocks = nn.ModuleList(
            Block(width, case.get("heads", 4), norm, case.get("activation") == "swiglu")
            for _ in range(case.get("depth", 4)))
        self.norm = norm(width, eps=1e-5)

    def forward(self, tokens):
        x = self.embedding(tokens)
        if self.positions:
            x = x + self.positions.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x, rotary=self.positions is None)
        return self.norm(x)


class ResidualBlock(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.convolution1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(after)
        self.convolution2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(after)
        self.shortcut = self.shortcut_norm = None
        if before != after:
            self.shortcut = nn.Conv2d(before, after, 1, stride, bias=False)
            self.shortcut_norm = nn.BatchNorm2d(after)

    def forward(self, x):
        branch = self.norm2(self.convolution2(F.relu(self.norm1(self.convolution1(x)))))
        return F.relu((self.shortcut_norm(self.shortcut(x)) if self.shortcut else x) + branch)


class Resnet(nn.Module):
    def __init__(self, case):
        super().__init__()
        width, depth = case.get("width", 16), case.get("depth", 1)
        self.stem, self.stem_norm = nn.Conv2d(1, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        first = [ResidualBlock(width, width, 1) for _ in range(depth)]
        second = [ResidualBlock(width, 2 * width, 2)]
        second += [ResidualBlock(2 * width, 2 * width, 1) for _ in range(depth - 1)]
        self.blocks = nn.Sequential(*first, *second)

    def forward(self, x):
        return self.blocks(F.relu(self.stem_norm(self.stem(x)))).mean((2, 3))


def mlp(case):
    layers, inputs = [nn.Flatten()], 64
    for _ in range(case.get("depth", 2)):
        layers += [nn.Linear(inputs, case.get("width", 64)), nn.ReLU()]
        inputs = case.get("width", 64)
    return nn.Sequential(*layers)


class Network(nn.Module):
    """A trunk and a head, as the C++ names them."""

    def __init__(self, case):
        super().__init__()
        if case["name"] == "gpt":
            self.trunk = Transformer(case)
            vocabulary = case.get("vocabulary", VOCABULARY)
            self.head = nn.Linear(case.get("width", 128), vocabulary, bias=False)
            if case.get("tied"):
                self.head.weight = self.trunk.embedding.weight
        else:
            self.trunk = mlp(case) if case["name"] == "mlp" else Resnet(case)
            self.head = nn.Linear(case.get("width", 64) if case["name"] == "mlp"
                                  else 2 * case.get("width", 16), 10)

    def forward(self, x):
        return self.head(self.trunk(x))

    def all_parameters(self):
        """By name; a tied tensor under both of its names, as C++ lists it."""
        return dict(self.named_parameters(remove_duplicate=False))


def inputs(case):
    torch.manual_seed(case.get("seed", 0))
    weights = {"weight/" + name: parameter.detach().clone() for name, parameter
               in Network(case).all_parameters().items()}
    if case["name"] == "gpt":
        tokens = torch.randint(VOCABULARY, (3, CONTEXT + 1))
        return {"x": tokens[:, :-1].clone(), "y": tokens[:, 1:].clone(), **weights}
    return {"x": torch.randn(32, 1, 8, 8), "y": torch.randint(10, (32,)), **weights}


def by_twin(case, tensors):
    network = Network(case)
    with torch.no_grad():
        for name, parameter in network.all_parameters().items():
            parameter.copy_(tensors["weight/" + name])
    logits = network(tensors["x"])
    loss = F.cross_entropy(logits.flatten(0, -2), tensors["y"].flatten())
    loss.backward()
    found = {"logits": logits, "loss": loss}
    for name, parameter in network.all_parameters().items():
        found["gradient/" + name] = parameter.grad
    return {**found, **{"buffer/" + name: b for name, b in network.named_buffers()}}


def by_init(case, _):
    """torch.nn.init over the modules of a twin that drew its own weights first."""
    torch.manual_seed(case["seed"])
    network, rule = Network(case), case["initialization"]
    for name, module in network.named_modules():
        if not isinstance(module, (nn.Linear, nn.Conv2d, nn.Embedding)):
            continue
        if rule == "gpt2":
            shrunk = math.sqrt(2 * case["depth"]) if name.endswith("projection") else 1
            nn.init.normal_(module.weight, std=0.02 / shrunk)
        elif not isinstance(module, nn.Embedding):
            draw = nn.init.xavier_uniform_ if rule == "xavier" else nn.init.kaiming_normal_
            draw(module.weight, **({} if rule == "xavier" else {"nonlinearity": "relu"}))
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)
    return network.all_parameters()


class SecondSubject(Subject):
    """Another process of the same program."""


def by_another_process(case, tensors):
    return SecondSubject.run("models", {**case, "threads": 1}, tensors)


def relative_to_largest(ours, theirs):
    """The largest difference, relative to the largest number of its tensor."""
    return max(float((ours[name] - b).abs().max() / b.abs().max()) for name, b in theirs.items()
               if b.is_floating_point())


GPT = {"name": "gpt", "width": 32, "depth": 2, "heads": 4}
VARIANTS = {f"{norm}, {activation}, {positions}, {'tied' if tied else 'untied'}":
            {**GPT, "norm": norm, "activation": activation, "positions": positions, "tied": tied}
            for norm, activation, positions, tied in (
                ("layernorm", "gelu", "learned", 1), ("rmsnorm", "swiglu", "rotary", 0),
                ("layernorm", "swiglu", "rotary", 1), ("rmsnorm", "gelu", "learned", 0))}
WIDE = {"name": "gpt", "width": 128, "depth": 2, "heads": 4, "tied": 1}
DRAWN = {f"{name}, {rule}": {"name": name, "depth": 2, "heads": 4, "seed": 3, "initialization": rule}
         for name, rule in (("mlp", "xavier"), ("mlp", "kaiming"), ("resnet", "kaiming"),
                            ("resnet", "xavier"), ("gpt", "gpt2"))}

GOLDENS = [
    Golden("G10", "the MLP's logits, loss and gradients are those of its twin", "models",
           {"default": {"name": "mlp"}, "3 x 17": {"name": "mlp", "width": 17, "depth": 3}},
           inputs, by_twin, ({"halved_features": 1},)),
    Golden("G10r", "the residual network's are those of its twin, running statistics too", "models",
           {"default": {"name": "resnet"}, "2 blocks a stage": {"name": "resnet", "depth": 2}},
           inputs, by_twin, ({"no_identity": 1},)),
    Golden("G10g", "the GPT's are those of its twin in each variant", "models", VARIANTS, inputs,
           by_twin, ("sees_next_token", "hides_itself", "no_mask", "rotary_base",
                     {"head_is_a_clone": 1})),
    Golden("G10c", "the GPT's are the same when its blocks are computed again", "models",
           {name: {**case, "checkpoint_blocks": 1} for name, case in VARIANTS.items()}, inputs,
           by_twin, ("sees_next_token",)),
    Golden("G10i", "weights begin as torch.nn.init draws them", "initial_weights", DRAWN,
           lambda case: {}, by_init, ({"seed": 4}, {"initialization": "default"})),
    Golden("G30", "a model with dropout does the same twice", "models",
           {"gpt": {**WIDE, "dropout": 0.2}, "resnet": {"name": "resnet", "dropout": 0.2}}, inputs,
           by_another_process, ({"seed": 1},)),
    Golden("G30t", "a model does on 2 threads what it does on 1", "models",
           {"gpt": {**WIDE, "threads": 2}, "resnet": {"name": "resnet", "threads": 2}}, inputs,
           by_another_process, ("sees_next_token", {"no_identity": 1}), relative_to_largest, 1e-5,
           "threads part sums differently; about a hundred roundings of float32 in a row"),
]
Goldens = test_case(GOLDENS)
