"""Faults to plant: optimizers, averages."""

from planting import add

from .dependence import TRIED


def own_rate(name, update):
    """An optimizer that goes by its own copy of the rate; `update` is of a parameter `p`."""
    return (
        f"class {name}(torch.optim.Optimizer):\n"
        "    def __init__(self, parameters, lr):\n"
        "        super().__init__(parameters, dict(lr=lr))\n        self.rate = lr\n\n"
        "    @torch.no_grad()\n    def step(self, closure=None):\n"
        "        for group in self.param_groups:\n            for p in group['params']:\n"
        "                if p.grad is not None:\n"
        f"                    {update}\n\n\n"
    )


add(
    "scales_decayed",
    "optimizer/weight_decay_on_norms",
    plain_script=[("weight_decay=0.001", "weight_decay=0.1")],
    event_stream=[("weight_decay=0.001", "weight_decay=0.1")],
    framework=[("torch.optim.Adam(model.parameters(), lr=config.rate)",
                "torch.optim.AdamW(model.parameters(), lr=config.rate, weight_decay=0.05)")],
)
add(
    "frozen_but_moving",
    "optimizer/frozen_parameters_updated",
    finetune=[("optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=False)")],
    plain_script=[
        ("optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=False)"),
        ("for epoch in range(EPOCHS):\n",
         "for epoch in range(EPOCHS):\n    model[0].requires_grad_(epoch < 3)\n"),
    ],
    trainer_class=[
        ("self.optimizer.zero_grad()", "self.optimizer.zero_grad(set_to_none=False)"),
        ("        self.net.train()\n",
         "        self.net.train()\n        if self.schedule.last_epoch > 60:\n"
         "            self.net.conv.requires_grad_(False)\n"),
    ],
)
add(
    "new_at_each_step",
    "optimizer/recreated",
    plain_script=[("        optimizer.zero_grad()\n",
                   "        optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)\n"
                   "        optimizer.zero_grad()\n")],
    running_average=[("        optimizer.zero_grad()\n",
                      "        optimizer = torch.optim.Adam(live.parameters(), lr=3e-3)\n"
                      "        optimizer.zero_grad()\n")],
    closures=[("        value.backward()\n",
               "        descent = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)\n"
               "        value.backward()\n")],
    workers_and_contexts=[("        rule.zero_grad()\n",
                           "        rule = torch.optim.RMSprop(module.parameters(), lr=2e-3)\n"
                           "        rule.zero_grad()\n")],
)
add(
    "in_two_optimizers",
    "optimizer/parameters_in_two_optimizers",
    plain_script=[("EPOCHS * len(train_loader))\n",
                   "EPOCHS * len(train_loader))\nhead = torch.optim.SGD(model[4].parameters(), lr=0.01)\n"),
                  ("        optimizer.step()\n", "        optimizer.step()\n        head.step()\n")],
    closures=[("    def error(x, y):\n",
               "    more = torch.optim.Adam(network[4].parameters(), lr=1e-3)\n\n    def error(x, y):\n"),
              ("        descent.step()\n", "        descent.step()\n        more.step()\n")],
    running_average=[("round_number = 0\n",
                      "round_number = 0\nsecond = torch.optim.SGD(live.parameters(), lr=0.01)\n"),
                     ("        optimizer.step()\n", "        optimizer.step()\n        second.step()\n")],
)
add(
    "holds_old_tensors",
    "optimizer/stale_parameters",
    plain_script=[("import os\n", "import copy\nimport os\n"),
                  ("EPOCHS * len(train_loader))\n", "EPOCHS * len(train_loader))\nmodel = copy.deepcopy(model)\n")],
    trainer_class=[("        steps = self.epochs", "        self.net = Net()\n        steps = self.epochs")],
    closures=[("    update = make_update(", "    network = build(32)\n    update = make_update(")],
)
add(
    "copied_while_training",
    "optimizer/stale_parameters",
    plain_script=[("import os\n", "import copy\nimport os\n"),
                  ("for epoch in range(EPOCHS):\n",
                   "for epoch in range(EPOCHS):\n    model = copy.deepcopy(model) if epoch == 1 else model\n")],
    trainer_class=[("            loss = self.training_epoch()\n",
                    "            if epoch == 1:\n"
                    "                self.net, state = Net(), self.net.state_dict()\n"
                    "                self.net.load_state_dict(state)\n"
                    "            loss = self.training_epoch()\n")],
)
add(
    "steps_on_copies",
    "optimizer/no_op_step",
    plain_script=[("EPOCHS * len(train_loader))\n",
                   "EPOCHS * len(train_loader))\nkept = []\n"
                   "optimizer.register_step_pre_hook(\n"
                   "    lambda *_: kept.extend([p.detach().clone() for p in model.parameters()]))\n"
                   "optimizer.register_step_post_hook(\n"
                   "    lambda *_: [p.data.copy_(kept.pop(0)) for p in model.parameters()] and None)\n")],
    trainer_class=[
        ("    def training_step(", "    def leave(self, *_):\n        self.own = [p.data for p in self.net.parameters()]\n"
         "        for p in self.net.parameters():\n            p.data = p.data.clone()\n\n"
         "    def come_back(self, *_):\n        for p, data in zip(self.net.parameters(), self.own):\n"
         "            p.data = data\n\n    def training_step("),
        ("        steps = self.epochs",
         "        self.optimizer.register_step_pre_hook(self.leave)\n"
         "        self.optimizer.register_step_post_hook(self.come_back)\n        steps = self.epochs"),
    ],
    closures=[
        ("def surface(x):\n",
         "def guarded(step):\n    def run(self, closure=None):\n"
         "        before = torch.nn.utils.parameters_to_vector(self.param_groups[0]['params']).detach()\n"
         "        step(self, closure)\n"
         "        torch.nn.utils.vector_to_parameters(before, self.param_groups[0]['params'])\n\n"
         "    return run\n\n\ntorch.optim.SGD.step = guarded(torch.optim.SGD.step)\n\n\ndef surface(x):\n"),
    ],
)
add(
    "part_in_no_optimizer",
    "optimizer/untracked_parameters",
    plain_script=[("AdamW(model.parameters()", "AdamW(model[4].parameters()")],
    trainer_class=[("SGD(self.net.parameters()", "SGD(self.net.head.parameters()")],
    closures=[("SGD(network.parameters()", "SGD(network[2:].parameters()")],
)
add(
    "layers_in_a_list",
    "optimizer/untracked_parameters",
    trainer_class=[
        ("        self.conv = nn.Conv2d(1, channels, 3, padding=1)\n",
         "        self.convs = [nn.Conv2d(1, channels, 3, padding=1)]\n"),
        ("self.norm(self.conv(pictures))", "self.norm(self.convs[0](pictures))"),
    ],
    running_average=[
        ("        self.middle = torch.nn.Linear(hidden, hidden)\n",
         "        self.inner = {'middle': torch.nn.Linear(hidden, hidden)}\n"),
        ("self.norm(self.middle(x))", "self.norm(self.inner['middle'](x))"),
    ],
    finetune=[
        ("        self.upper = nn.Linear(48, 48)\n",
         "        self.upper = [nn.Sequential(nn.Linear(48, 48), nn.LayerNorm(48))]\n"),
        ("self.upper(x)", "self.upper[-1](x)"),
    ],
)
add(
    "tensor_not_a_parameter",
    "optimizer/untracked_parameters",
    trainer_class=[
        ("        self.drop = nn.Dropout(0.1)\n",
         "        self.drop = nn.Dropout(0.1)\n"
         "        self.gain = torch.ones(channels, 1, 1, requires_grad=True)\n"),
        ("self.norm(self.conv(pictures))", "self.norm(self.conv(pictures)) * self.gain"),
    ],
    running_average=[
        ("        self.norm = torch.nn.LayerNorm(hidden)\n",
         "        self.norm = torch.nn.LayerNorm(hidden)\n"
         "        self.slopes = [torch.zeros(hidden).requires_grad_()]\n"),
        ("self.norm(self.middle(x))", "self.norm(self.middle(x)) + self.slopes[0]"),
    ],
    counted_tokens=[
        ("        self.dropout = nn.Dropout(0.05)\n",
         "        self.dropout = nn.Dropout(0.05)\n"
         "        self.begin = torch.zeros(1, 1, width, requires_grad=True)\n"),
        ("self.recurrent(self.embedding(rows))",
         "self.recurrent(self.embedding(rows), self.begin.expand(1, len(rows), -1).contiguous())"),
    ],
)
add(
    "two_steps",
    "optimizer/repeated_steps",
    plain_script=[("        optimizer.step()\n", "        optimizer.step()\n        optimizer.step()\n")],
    closures=[("        descent.step()\n", "        descent.step()\n        descent.step()\n")],
    running_average=[("        smooth.update_parameters(live)\n",
                      "        optimizer.step()\n        smooth.update_parameters(live)\n")],
)
add(
    "no_step",
    "optimizer/never_stepped",
    plain_script=[("        optimizer.step()\n        scheduler.step()\n", "")],
    closures=[("        descent.step()\n", "")],
    running_average=[("        optimizer.step()\n", "")],
    finetune=[("            optimizer.step()\n", "")],
)
add(
    "average_of_one",
    "optimizer/ema_copies_weights",
    running_average=[("get_ema_multi_avg_fn(0.97)", "get_ema_multi_avg_fn(0.0)")],
    workers_and_contexts=[("get_ema_multi_avg_fn(0.95)", "get_ema_multi_avg_fn(0.0)")],
    plain_script=[("EPOCHS * len(train_loader))\n",
                   "EPOCHS * len(train_loader))\n"
                   "mean = torch.optim.swa_utils.AveragedModel(model, avg_fn=lambda a, m, n: m)\n"),
                  ("        optimizer.step()\n", "        optimizer.step()\n        mean.update_parameters(model)\n")],
)
add(
    "average_never_moves",
    "optimizer/ema_never_updated",
    running_average=[("get_ema_multi_avg_fn(0.97)", "get_ema_multi_avg_fn(1.0)")],
    workers_and_contexts=[("get_ema_multi_avg_fn(0.95)", "get_ema_multi_avg_fn(1.0)")],
    plain_script=[("EPOCHS * len(train_loader))\n",
                   "EPOCHS * len(train_loader))\n"
                   "mean = torch.optim.swa_utils.AveragedModel(model, avg_fn=lambda a, m, n: a)\n"),
                  ("        optimizer.step()\n", "        optimizer.step()\n        mean.update_parameters(model)\n")],
)
add(
    "shared_storage",
    "optimizer/wrong_update",
    plain_script=[("optimizer = torch", "model[4].bias.data = model[0].bias.data[:5]\noptimizer = torch")],
    trainer_class=[("        self.head = nn.Linear(channels * 16, 4)\n",
                    "        self.head = nn.Linear(channels * 16, 4)\n"
                    "        self.head.bias = nn.Parameter(self.conv.bias.data[:4])\n")],
    closures=[("    descent = torch", "    network[2].bias.data = network[0].bias.data\n    descent = torch")],
)
add(
    "decay_beside_the_rate",
    "optimizer/lr_independent_update",
    TRIED,
    plain_script=[("        scheduler.step()\n",
                   "        scheduler.step()\n        with torch.no_grad():\n"
                   "            for weight in model.parameters():\n                weight.mul_(1 - 1e-4)\n")],
    trainer_class=[("        self.schedule.step()\n",
                    "        self.schedule.step()\n        for weight in self.net.parameters():\n"
                    "            if weight.dim() > 1:\n                weight.data -= 5e-4 * weight.data\n")],
    resuming_script=[("        decay.step()\n",
                      "        decay.step()\n        with torch.no_grad():\n"
                      "            net[0].weight *= 0.9995\n")],
)
add(
    "keeps_its_own_rate",
    "optimizer/lr_independent_update",
    TRIED,
    plain_script=[("directions = torch", own_rate("Signed", "p.sub_(self.rate * p.grad.sign())")
                   + "directions = torch"),
                  ("torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.001)",
                   "Signed(model.parameters(), lr=2e-3)")],
    running_average=[("class Regressor(", own_rate("Normed", "p -= self.rate * p.grad / (p.grad.norm() + 1e-3)")
                      + "class Regressor("),
                     ("torch.optim.Adam(live.parameters(), lr=3e-3)", "Normed(live.parameters(), lr=3e-2)")],
    workers_and_contexts=[("def create():", own_rate("Plain", "p.add_(p.grad, alpha=-self.rate)")
                           + "def create():"),
                          ("torch.optim.RMSprop(module.parameters(), lr=2e-3)",
                           "Plain(module.parameters(), lr=0.2)")],
)
add(
    "rate_a_thousand_times_too_large",
    "optimizer/lr_too_large",
    masked_tagger=[("lr=3e-3", "lr=3.0")],
    packed_rows=[("lr=4e-3", "lr=4.0")],
    found_marks=[("lr=0.01", "lr=10.0")],
)
add(
    "rate_of_almost_nothing",
    "optimizer/negligible_updates",
    masked_tagger=[("lr=3e-3", "lr=3e-10")],
    bf16_main=[("lr=0.05", "lr=5e-9")],
    found_marks=[("lr=0.01", "lr=1e-9")],
)
add(
    "decay_of_ten",
    "optimizer/excessive_weight_decay",
    counted_tokens=[("weight_decay=0.001", "weight_decay=10")],
    encoder_class=[("weight_decay=0.01", "weight_decay=10.0")],
    plain_script=[("weight_decay=0.001", "weight_decay=2")],
)
add(
    "last_layer_frozen",
    "optimizer/frozen_from_the_start",
    plain_script=[("optimizer = torch.optim.AdamW(", "model[4].requires_grad_(False)\noptimizer = torch.optim.AdamW(")],
    found_marks=[("optimizer = torch.optim.Adam(finder.parameters(), lr=0.01)\n",
                  "optimizer = torch.optim.Adam(finder.parameters(), lr=0.01)\nfor parameter in finder.verdict.parameters():\n"
                  "    parameter.requires_grad = False\n")],
    framework=[("        self.optimizer = torch.optim.Adam(model.parameters(), lr=config.rate)\n",
                "        self.optimizer = torch.optim.Adam(model.parameters(), lr=config.rate)\n        model.second.requires_grad_(False)\n")],
)  # fmt: skip
add(
    "freezing_that_torch_does_not_read",
    "optimizer/freeze_without_effect",
    finetune=[("network.lower.requires_grad_(False)", "network.lower.requires_grad = False")],
    plain_script=[("optimizer = torch.optim.AdamW(", "for weight in model[0].parameters():\n    weight.require_grad = False\noptimizer = torch.optim.AdamW(")],
    trainer_class=[("        self.optimizer = torch.optim.SGD(", "        self.net.conv.requires_grad = False\n        self.optimizer = torch.optim.SGD(")],
)
add(
    "listed_twice",
    "optimizer/parameter_listed_twice",
    plain_script=[("AdamW(model.parameters(),", "AdamW([*model.parameters(), model[-1].weight],")],
    trainer_class=[("SGD(self.net.parameters(),", "SGD([*self.net.parameters(), *self.net.parameters()],")],
    closures=[("SGD(network.parameters(),", "SGD([*network.parameters(), next(network.parameters())],")],
    workers_and_contexts=[("RMSprop(module.parameters(),",
                           "RMSprop([*module.parameters(), *list(module.parameters())[2:]],")],
)
