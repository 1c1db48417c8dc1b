"""Finds a log-variance whose exponential multiplies the noise of a sample, where half of it had to be taken."""

from ..torch_api import private, tensors
from ..torch_api.on_host import on_host
from .loss_graph import SavedTensors

ADDING = ("AddBackward0", "SubBackward0", "RsubBackward0")
FEWEST, NEAR = 64, 0.5  # numbers of a noise; how far its mean and spread may be from 0 and 1


def variance_as_deviation(node, users):
    """Whether this exponential multiplies noise, and the same numbers' exponential is a term of a sum, too. That of
    a log-variance is one of the divergence from a normal distribution; of half of it, which is a standard
    deviation, only the square is."""
    if node.name() != "ExpBackward0" or SavedTensors.packed or not any(scales_noise(user) for user in users.get(node, ())):
        return False
    source = node.next_functions[0]
    alike = [other for other in users.get(source[0], ()) if other.name() == "ExpBackward0" and other.next_functions[0] == source]
    return any(user.name() in ADDING for other in alike for user in users.get(other, ()))


def scales_noise(node):
    if node.name() != "MulBackward0":
        return False
    noise = [private.saved(node, name) for name in ("self", "other")]
    noise = [n for n in noise if tensors.is_plain(n) and not n.requires_grad and n.numel() >= FEWEST and n.is_floating_point()]
    first = on_host(noise[0]) if noise else None
    if first is None or not first.is_cpu:
        return False
    with tensors.unrecorded():
        values = first.detach().double()
        return bool(values.mean().abs() < NEAR) and bool((values.std() - 1).abs() < NEAR)
