"""The update rules of PyTorch's own optimizers, worked out in float64 for one parameter.

Each takes the weights, the gradient, the state before the step (by name, empty before the first)
and the parameter's group, and gives what the step adds to the weights.
Sources: the optimizers' documentation and the papers named there.
"""

import torch

from ..torch_api import private


def sgd(weight, gradient, state, group):
    gradient = decayed(weight, gradient, group)
    if not group["momentum"]:
        return -group["lr"] * gradient
    momentum = state.get("momentum_buffer")
    if momentum is None:
        momentum = gradient
    else:
        momentum = group["momentum"] * momentum + (1 - group["dampening"]) * gradient
    if group["nesterov"]:
        momentum = gradient + group["momentum"] * momentum
    return -group["lr"] * momentum


def adam(weight, gradient, state, group):
    apart = group.get("decoupled_weight_decay", False)
    if not apart:
        gradient = decayed(weight, gradient, group)
    elif group["maximize"]:
        gradient = -gradient
    (beta1, beta2), step = map(float, group["betas"]), float(state.get("step", 0)) + 1
    first = beta1 * state.get("exp_avg", 0) + (1 - beta1) * gradient
    second = beta2 * state.get("exp_avg_sq", 0) + (1 - beta2) * gradient.square()
    if group["amsgrad"]:
        second_used = torch.maximum(state.get("max_exp_avg_sq", torch.zeros_like(second)), second)
    else:
        second_used = second
    root = (second_used / (1 - beta2**step)).sqrt() + group["eps"]
    change = -group["lr"] / (1 - beta1**step) * first / root
    return change - group["lr"] * group["weight_decay"] * weight if apart else change


def adamw(weight, gradient, state, group):
    return adam(weight, gradient, state, {**group, "decoupled_weight_decay": True})


def rmsprop(weight, gradient, state, group):
    gradient = decayed(weight, gradient, group)
    square = group["alpha"] * state.get("square_avg", 0) + (1 - group["alpha"]) * gradient.square()
    if group["centered"]:
        mean = group["alpha"] * state.get("grad_avg", 0) + (1 - group["alpha"]) * gradient
        quotient = gradient / ((square - mean.square()).sqrt() + group["eps"])
    else:
        quotient = gradient / (square.sqrt() + group["eps"])
    if group["momentum"]:
        quotient = group["momentum"] * state.get("momentum_buffer", 0) + quotient
    return -group["lr"] * quotient


def adagrad(weight, gradient, state, group):
    gradient = decayed(weight, gradient, group)
    rate = group["lr"] / (1 + float(state["step"]) * group["lr_decay"])
    return -rate * gradient / ((state["sum"] + gradient.square()).sqrt() + group["eps"])


def decayed(weight, gradient, group):
    """With the weights' own pull in the gradient; maximizing comes first."""
    if group["maximize"]:
        gradient = -gradient
    return gradient + group["weight_decay"] * weight if group["weight_decay"] else gradient


RULES = {
    torch.optim.SGD: sgd,
    torch.optim.Adam: adam,
    torch.optim.AdamW: adamw,
    torch.optim.RMSprop: rmsprop,
    torch.optim.Adagrad: adagrad,
}


def rule_of(optimizer):
    """The rule that an optimizer promises; None for other classes, for one whose `step` was put
    in its place, and where hooks of the program may change what it finds or leaves."""
    rule = RULES.get(type(optimizer))
    if rule is None or "step" in vars(optimizer) and not private.is_counted_step(optimizer.step):
        return None
    return None if private.has_step_hooks(optimizer) else rule
