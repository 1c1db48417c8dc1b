"""Faults to plant: normalization layers that do not normalize, and what stands before them."""

from planting import add

FROZEN = "for part in {0}.modules():\n    if isinstance(part, {1}):\n        part.eval()\n"

add(
    "epsilon_of_ten",
    "model/large_norm_epsilon",
    framework=[("nn.LayerNorm(width)", "nn.LayerNorm(width, eps=10)")],
    event_stream=[("torch.nn.LayerNorm(b)", "torch.nn.LayerNorm(b, eps=100.0)")],
    plain_script=[("nn.BatchNorm1d(64)", "nn.BatchNorm1d(64, eps=50.0)")],
    bf16_main=[("nn.GroupNorm(4, channels)", "nn.GroupNorm(4, channels, eps=100.0)")],
)
add(
    "norm_left_in_evaluation",
    "model/initial_statistics",
    plain_script=[("    for inputs, targets in train_loader:\n        optimizer.zero_grad()\n",
                   "    for inputs, targets in train_loader:\n        model[1].eval()\n        optimizer.zero_grad()\n")],
    trainer_class=[("        logits = self.net(pictures)\n        loss =",
                    "        self.net.norm.eval()\n        logits = self.net(pictures)\n        loss =")],
    resuming_script=[("        rule.zero_grad()\n", "        net[1].eval()\n        rule.zero_grad()\n")],
    workers_and_contexts=[("    for signals, kinds in batches:\n", "    for signals, kinds in batches:\n        module[1].eval()\n")],
)  # fmt: skip
add(
    "norm_without_momentum",
    "model/initial_statistics",
    plain_script=[("nn.BatchNorm1d(64)", "nn.BatchNorm1d(64, momentum=0.0)")],
    trainer_class=[("nn.BatchNorm2d(channels)", "nn.BatchNorm2d(channels, momentum=0.0)")],
)
add(
    "bias_that_norm_removes",
    "model/bias_before_norm",
    bf16_main=[("3, padding=1, bias=False)", "3, padding=1)"),
               ("self.norm = nn.GroupNorm(4, channels)", "self.norm = nn.BatchNorm2d(channels)")],
    running_average=[("torch.nn.LayerNorm(hidden)", "torch.nn.BatchNorm1d(hidden)")],
    windowed_signal=[
        ("        self.deep = torch", "        self.norm = torch.nn.BatchNorm1d(2 * width)\n        self.deep = torch"),
        ("x = torch.relu(self.near(x.movedim(2, 1)))", "x = torch.relu(self.norm(self.near(x.movedim(2, 1))))"),
    ],
)  # fmt: skip
