"""The models from the same weights against their twins in Python, and how weights begin."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from fixtures.twins.network import TEXT, Network
from fixtures.twins.transformers import CONTEXT, VOCABULARY
from fixtures.twins.unet import Unet
from tests.pytorch_parity.golden import Golden, Subject, test_case


def twin(case):
    return Unet(case) if case["name"] == "unet" else Network(case)


def inputs(case):
    torch.manual_seed(case.get("seed", 0))
    weights = {"weight/" + name: parameter.detach().clone() for name, parameter
               in twin(case).all_parameters().items()}
    if case["name"] == "unet":
        return {"x": torch.randn(6, 2, 8, 8), "y": torch.randn(6, 1, 8, 8), **weights}
    if case["name"] in TEXT:
        tokens = torch.randint(VOCABULARY, (3, CONTEXT + 1))
        return {"x": tokens[:, :-1].clone(), "y": tokens[:, 1:].clone(), **weights}
    return {"x": torch.randn(32, 1, 8, 8), "y": torch.randint(10, (32,)), **weights}


def by_twin(case, tensors):
    network = twin(case)
    with torch.no_grad():
        for name, parameter in network.all_parameters().items():
            parameter.copy_(tensors["weight/" + name])
    torch.manual_seed(case.get("seed", 0))
    logits = network(tensors["x"])
    if case["name"] == "unet":
        loss = F.mse_loss(logits, tensors["y"])
    else:
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
    for name, parameter in network.named_parameters() if case.get("zero_init_residual") else ():
        if name.endswith(("projection.weight", "norm2.weight")):
            nn.init.zeros_(parameter)
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

SHARED = {"2 of 4 heads": {**GPT, "kv_heads": 2}, "1 of 4 heads": {**GPT, "kv_heads": 1, "norm": "rmsnorm"}}
VIT = {"default": {"name": "vit", "width": 32, "depth": 2}, "larger patches": {"name": "vit", "width": 32, "patch": 4},
       "shared heads": {"name": "vit", "width": 32, "depth": 1, "kv_heads": 2, "activation": "swiglu"}}
LSTM = {"untied": {"name": "lstm", "width": 32}, "tied, 3 layers": {"name": "lstm", "width": 24, "depth": 3, "tied": 1}}
DEPTH = {name: {**case, "stochastic_depth": 0.4, "seed": 5} for name, case in
         {"gpt": GPT, "vit": VIT["default"], "resnet": {"name": "resnet", "depth": 2}}.items()}
ZERO = {f"{name}, {rule}": {"name": name, "depth": 2, "heads": 4, "seed": 3, "initialization": rule, "zero_init_residual": 1}
        for name, rule in (("resnet", "kaiming"), ("vit", "xavier"), ("gpt", "gpt2"))}

GOLDENS = [
    Golden("G10", "the MLP's logits, loss and gradients are those of its twin", "models",
           {"linear": {"name": "linear"}, "default": {"name": "mlp"}, "3 x 17": {"name": "mlp", "width": 17, "depth": 3}},
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
    Golden("G10s", "heads of keys and values that heads share are those of enable_gqa", "models", SHARED, inputs,
           by_twin, ("sees_next_token", "no_mask"), relative_to_largest, 2e-6,
           "keys are copied for their heads, and gradients are summed over the copies"),
    Golden("G10v", "the vision transformer's are those of its twin", "models", VIT, inputs, by_twin,
           ({"halved_features": 1},), relative_to_largest, 2e-6, "gradients of shared heads are summed over copies"),
    Golden("G10l", "the LSTM's are those of its twin", "models", LSTM, inputs, by_twin, ({"halved_features": 1},)),
    Golden("G10u", "the U-Net's are those of its twin", "models",
           {"default": {"name": "unet"}, "3 levels": {"name": "unet", "width": 16, "depth": 3}}, inputs, by_twin,
           ({"no_identity": 1},)),
    Golden("G10d", "samples pass by residual branches as in torchvision", "models", DEPTH, inputs, by_twin,
           ({"stochastic_depth": 0.2}, {"seed": 6})),
    Golden("G10n", "ghost batch norm is a batch norm of each part", "models",
           {"4 parts": {"name": "resnet", "ghost": 8}, "a part that is left": {"name": "resnet", "ghost": 12, "depth": 2}},
           inputs, by_twin, ({"ghost": 16}, {"ghost": 0})),
    Golden("G10z", "branches begin as zeros", "initial_weights", ZERO, lambda case: {}, by_init,
           ({"zero_init_residual": 0},)),
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
