"""optimizer_steps.py RULE LAYERS WIDTH STEPS MODE: optimizer_steps.cc with torch.optim, or with the twin of what it
does not have. MODE is loop, foreach or fused. Prints the milliseconds of one step, or "none" where the optimizer
has no such mode.
"""

import pathlib
import sys
import time

import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
from fixtures.twins import optimizers as twins  # noqa: E402

OWN = {"lion": twins.Lion, "lamb": twins.Lamb, "schedule_free": twins.ScheduleFreeAdamW}
TORCH = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "rmsprop": torch.optim.RMSprop,
         "adagrad": torch.optim.Adagrad, "nadam": torch.optim.NAdam, "adafactor": torch.optim.Adafactor,
         "muon": getattr(torch.optim, "Muon", None)}  # fmt: skip


def made(rule, weights, mode):
    """The optimizer in this mode; None where it has no such mode."""
    if rule in OWN:
        return OWN[rule](weights, lr=1e-3) if mode == "loop" else None
    settings = {"fused": {"fused": True}, "foreach": {"foreach": True}, "loop": {"foreach": False}}[mode]
    if rule == "muon":
        return TORCH[rule](weights, lr=1e-3, weight_decay=0) if mode == "loop" else None
    if rule == "adamw":
        settings["weight_decay"] = 0
    try:
        return TORCH[rule](weights, lr=1e-3, **settings)
    except (TypeError, RuntimeError):
        return None


def main():
    rule, layers, width, steps, mode = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = [size for _ in range(layers) for size in ((width, width), (width,))[: 1 if rule == "muon" else 2]]
    weights = [torch.nn.Parameter(torch.randn(size)) for size in sizes]
    for weight in weights:
        weight.grad = torch.randn(weight.shape)
    optimizer = made(rule, weights, mode)
    if optimizer is None:
        print("none")
        return
    for _ in range(2):
        begin = time.perf_counter()
        for _ in range(steps):
            optimizer.step()
    print((time.perf_counter() - begin) / steps * 1e3)


main()
