"""Which type each operation has under autocast, and its numbers, against torch.autocast."""

import torch
import torch.nn.functional as F

from tests.pytorch_parity.golden import Golden, test_case


def inputs(_):
    generator = torch.Generator().manual_seed(23)
    shapes = {"a": (8, 8), "b": (8, 8), "v": (8,), "batch": (2, 8, 8), "image": (2, 3, 8, 8),
              "kernel": (4, 3, 3, 3), "sequence": (2, 3, 16), "kernel1": (4, 3, 3),
              "volume": (1, 2, 4, 4, 4), "kernel3": (3, 2, 2, 2, 2)}
    tensors = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    tensors["unit"] = 0.05 + 0.9 * torch.rand(8, 8, generator=generator)
    tensors["target"] = torch.randint(8, (8,), generator=generator)
    return tensors


def operations(a, b, v, batch, image, kernel, sequence, kernel1, volume, kernel3, unit, target):
    """The operations of subject/autocast_table.cc by their names there; low() is narrow."""
    def low():
        return torch.mm(a, b)

    def unit_low():
        return torch.mm(unit, unit)

    q = batch.unsqueeze(0)
    return {
        "mm": low, "matmul": lambda: torch.matmul(batch, b), "bmm": lambda: torch.bmm(batch, batch),
        "mv": lambda: torch.mv(a, v), "dot": lambda: torch.dot(v, v),
        "addmm": lambda: torch.addmm(a, a, b), "addmv": lambda: torch.addmv(v, a, v),
        "addbmm": lambda: torch.addbmm(a, batch, batch),
        "baddbmm": lambda: torch.baddbmm(batch, batch, batch),
        "linear": lambda: F.linear(a, b, v),
        "einsum": lambda: torch.einsum("ij,bjk->bik", a, batch),
        "multi_dot": lambda: torch.linalg.multi_dot([a, b, a]),
        "attention": lambda: F.scaled_dot_product_attention(q, q, q),
        "conv1d": lambda: F.conv1d(sequence, kernel1), "conv2d": lambda: F.conv2d(image, kernel),
        "conv3d": lambda: F.conv3d(volume, kernel3),
        "conv_transpose2d": lambda: F.conv_transpose2d(image,
                                                       kernel.transpose(0, 1).contiguous()),
        "sum": lambda: low().sum(), "mean": lambda: low().mean(1), "prod": lambda: low().prod(1),
        "cumsum": lambda: low().cumsum(1), "norm": lambda: low().norm(),
        "vector_norm": lambda: torch.linalg.vector_norm(low(), 2), "var": lambda: low().var(),
        "logsumexp": lambda: low().logsumexp(1), "amax": lambda: low().amax(1),
        "softmax": lambda: low().softmax(1), "log_softmax": lambda: low().log_softmax(1),
        "layer_norm": lambda: F.layer_norm(low(), (8,), v, v),
        "layer_norm_plain": lambda: F.layer_norm(low(), (8,)),
        "rms_norm": lambda: F.rms_norm(low(), (8,)),
        "group_norm": lambda: F.group_norm(image, 3),
        "batch_norm": lambda: F.batch_norm(low(), torch.zeros(8), torch.ones(8), v, v, True),
        "cosine_similarity": lambda: F.cosine_similarity(low(), b),
        "cdist": lambda: torch.cdist(a, b), "relu": lambda: low().relu(),
        "gelu": lambda: F.gelu(low()), "silu": lambda: F.silu(low()), "tanh": lambda: low().tanh(),
        "sigmoid": lambda: low().sigmoid(), "softplus": lambda: F.softplus(low()),
        "leaky_relu": lambda: F.leaky_relu(low()), "exp": lambda: low().exp(),
        "log": lambda: unit_low().log(), "sqrt": lambda: unit_low().sqrt(),
        "rsqrt": lambda: unit_low().rsqrt(), "pow": lambda: low().pow(2),
        "erf": lambda: low().erf(), "clamp": lambda: low().clamp(-1, 1),
        "add_wide": lambda: low() + a, "mul_narrow": lambda: low() * low(),
        "addcmul": lambda: torch.addcmul(a, b, b), "lerp": lambda: torch.lerp(a, b, 0.3),
        "where": lambda: torch.where(a > 0, low(), a), "cat": lambda: torch.cat([low(), a]),
        "stack": lambda: torch.stack([low(), a]),
        "index_select": lambda: low().index_select(0, target),
        "embedding": lambda: F.embedding(target, a),
        "cross_entropy": lambda: F.cross_entropy(low(), target),
        "nll_loss": lambda: F.nll_loss(low().log_softmax(1), target),
        "mse_loss": lambda: F.mse_loss(low(), b), "l1_loss": lambda: F.l1_loss(low(), b),
        "smooth_l1_loss": lambda: F.smooth_l1_loss(low(), b),
        "huber_loss": lambda: F.huber_loss(low(), b),
        "kl_div": lambda: F.kl_div(low(), unit, reduction="sum"),
        "bce_with_logits": lambda: F.binary_cross_entropy_with_logits(low(), unit),
        "avg_pool2d": lambda: F.avg_pool2d(image, 2), "max_pool2d": lambda: F.max_pool2d(image, 2),
        "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(image, 2),
        "nearest": lambda: F.interpolate(image, size=(16, 16)),
        "bilinear": lambda: F.interpolate(image, size=(16, 16), mode="bilinear"),
    }


def by_python(case, tensors):
    with torch.autocast("cpu", getattr(torch, case["type"])):
        return {name: operation() for name, operation in operations(**tensors).items()}


GOLDENS = [
    Golden("G9", "operations have torch.autocast's types and numbers on the CPU", "autocast_table",
           {"bf16": {"type": "bfloat16"}, "fp16": {"type": "float16"}}, inputs, by_python,
           ({"type": "float32"}, {"type": "bfloat16"})),
]
Goldens = test_case(GOLDENS)
