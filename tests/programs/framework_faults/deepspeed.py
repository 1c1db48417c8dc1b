"""Faults to plant: engines of DeepSpeed on two processes."""

import functools

from framework_faults import plant

plant = functools.partial(plant, processes=2)

# In arguments and the configuration.
plant(
    "deepspeed_in_order",
    "data/unshuffled",
    deepspeed_digits=[("shuffle=True", "shuffle=False")],
)
plant(
    "deepspeed_schedule_too_short",
    "schedule/lr_is_zero",
    deepspeed_digits=[('{"type": "WarmupLR", "params": {', '{"type": "WarmupDecayLR", "params": {"total_num_steps": 60, ')],
)
plant(
    "deepspeed_divides_again",
    "training_loop/doubly_divided_loss",
    deepspeed_digits=[("engine.backward(loss)", "engine.backward(loss / engine.gradient_accumulation_steps())")],
)
plant(
    "deepspeed_anomalies",
    "performance/debugging",
    deepspeed_digits=[("engine, optimizer,", "torch.autograd.set_detect_anomaly(True)\nengine, optimizer,")],
)

# In the loop and the model.
plant(
    "deepspeed_softmax",
    "model/double_softmax",
    deepspeed_digits=[("nn.Linear(64, 8))", "nn.Linear(64, 8), nn.Softmax(-1))")],
)
plant(
    "deepspeed_keeps_losses",
    "training_loop/graph_leak",
    deepspeed_digits=[("        engine.step()\n", "        engine.step()\n        kept.append(loss)\n"),
                      ("for epoch in", "kept = []\nfor epoch in")],
)
