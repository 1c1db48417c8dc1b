"""The moving average against torch.optim.swa_utils.AveragedModel."""

import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, get_swa_multi_avg_fn

from tests.pytorch_parity.golden import Golden, test_case

PARAMETERS = {"matrix": (9, 5), "bias": (37,), "scalar": ()}


def inputs(_):
    generator = torch.Generator().manual_seed(13)
    tensors = {"parameter/" + name: torch.randn(shape, generator=generator)
               for name, shape in PARAMETERS.items()}
    tensors["parameter/narrow"] = torch.randn(11, generator=generator).bfloat16()
    tensors["buffer/mean"] = torch.randn(21, generator=generator)
    tensors["buffer/count"] = torch.tensor(3)
    tensors["noise"] = 0.1 * torch.randn(1000, generator=generator)
    return tensors


def by_python(case, tensors):
    model = torch.nn.Module()
    for name, value in tensors.items():
        kind, _, short = name.partition("/")
        if kind == "parameter":
            model.register_parameter(short, torch.nn.Parameter(value.clone()))
        elif kind == "buffer":
            model.register_buffer(short, value.clone())
    rule = get_swa_multi_avg_fn() if case.get("equal") else get_ema_multi_avg_fn(case["decay"])
    average = AveragedModel(model, multi_avg_fn=rule,
                            use_buffers=bool(case["average_buffers"]))
    with torch.no_grad():
        for update in range(case["updates"]):
            for parameter in model.parameters():
                parameter.add_(tensors["noise"][update])
            model.mean.add_(tensors["noise"][update])
            model.count.add_(1)
            average.update_parameters(model)
    averaged = dict(average.module.state_dict())
    # Python averages integers too, rounded down at each update, if buffers are averaged: a count of
    # batches that stands still. Here they are copied.
    averaged["count"] = model.count
    live = dict(model.state_dict())
    if case.get("exchanged"):
        averaged, live = live, averaged
    return {"updates": average.n_averaged,
            **{"average/" + name: value for name, value in averaged.items()},
            **{"live/" + name: value for name, value in live.items()}}


CASES = {f"decay {decay}, buffers {'averaged' if buffers else 'copied'}":
         {"decay": decay, "average_buffers": buffers, "updates": 1000}
         for decay in (0.999, 0.9) for buffers in (0, 1)}
CASES["one update"] = {"decay": 0.999, "average_buffers": 0, "updates": 1}
CASES["exchanged"] = {"decay": 0.99, "average_buffers": 0, "updates": 50, "exchanged": 1}

GOLDENS = [
    Golden("G14", "the average is AveragedModel with get_ema_multi_avg_fn", "averages", CASES,
           inputs, by_python, ("never_updated", "always_first", "inverted_decay",
                               {"average_buffers": 1}, {"exchanged": 1})),
    Golden("G14s", "the equal average is AveragedModel with get_swa_multi_avg_fn", "averages",
           {"1000 updates": {"equal": 1, "decay": 0.9, "average_buffers": 0, "updates": 1000},
            "3 updates": {"equal": 1, "decay": 0.9, "average_buffers": 0, "updates": 3}},
           inputs, by_python, ("always_first", {"equal": 0})),
]
Goldens = test_case(GOLDENS)
