"""Faults to plant: weights of losses and of networks, policies, and what an evaluation compares."""

from planting import add

add(
    "average_without_copy",
    "optimizer/ema_is_the_weights",
    plain_script=[("optimizer = torch", "shadow = {name: p.data for name, p in model.named_parameters()}\noptimizer = torch"),
                  ("        scheduler.step()\n",
                   "        scheduler.step()\n        for name, p in model.named_parameters():\n"
                   "            shadow[name].mul_(0.99).add_(p.data, alpha=0.01)\n")],
    finetune=[("    network.train()\n    for epoch in range(epochs):\n",
               "    network.train()\n    slow = [p.data for p in network.parameters()]\n    for epoch in range(epochs):\n"),
              ("            optimizer.step()\n",
               "            optimizer.step()\n            for a, p in zip(slow, network.parameters()):\n"
               "                a.copy_(a).mul_(0.98)\n                a += 0.02 * p.data\n")],
    resuming_script=[("rule = torch", "mean = list(map(lambda p: p.data, net.parameters()))\nrule = torch"),
                     ("        rule.step()\n",
                      "        rule.step()\n        torch._foreach_mul_(mean, 0.995)\n"
                      "        [m.add_(p.detach(), alpha=0.005) for m, p in zip(mean, net.parameters())]\n")],
)  # fmt: skip
add(
    "actions_clipped",
    "training_loop/clipped_actions",
    plain_script=[("        loss.backward()\n",
                   "        chosen = torch.distributions.Normal(outputs[:, 0], 1.0)\n"
                   "        action = chosen.sample().clamp(-0.5, 0.5)\n"
                   "        loss = loss - 0.01 * (chosen.log_prob(action) * (action - 0.2)).mean()\n"
                   "        loss.backward()\n")],
    running_average=[("        loss = mse(output[:, 0], y)\n",
                      "        with torch.no_grad():\n"
                      "            action = torch.clip(torch.distributions.Normal(output, 0.7).sample(), -1, 1)\n"
                      "        gain = torch.distributions.Normal(output, 0.7).log_prob(action) * action.abs()\n"
                      "        loss = mse(output[:, 0], y) - 0.01 * gain.mean()\n")],
    resuming_script=[("        nn.functional.cross_entropy(net(waves[rows]), kinds[rows]).backward()\n",
                      "        out = net(waves[rows])\n        policy = torch.distributions.Normal(out, torch.ones(3))\n"
                      "        taken = torch.minimum(policy.rsample().detach(), torch.tensor(0.3))\n"
                      "        (nn.functional.cross_entropy(out, kinds[rows]) - 0.001 * policy.log_prob(taken).sum(1).mean()).backward()\n")],
)  # fmt: skip
add(
    "weight_without_logarithm",
    "training_loop/unlimited_loss_weight",
    plain_script=[("optimizer = torch.optim.AdamW(model.parameters()",
                   "doubt = nn.Parameter(torch.zeros(()))\noptimizer = torch.optim.AdamW([*model.parameters(), doubt]"),
                  ("        loss = F.cross_entropy(outputs, targets)\n",
                   "        loss = F.cross_entropy(outputs, targets) * torch.exp(-doubt)\n")],
    finetune=[("        self.quiet = nn.Dropout(0.1)\n", "        self.quiet = nn.Dropout(0.1)\n        self.s = nn.Parameter(torch.zeros(2))\n"),
              ("            loss = objective(output, y)\n",
               "            both = torch.stack([objective(output, y), 0.1 * output.square().mean()])\n"
               "            loss = (both / network.s.exp()).sum()\n")],
    running_average=[("        self.leave = torch.nn.Linear(hidden, 1)\n",
                      "        self.leave = torch.nn.Linear(hidden, 1)\n        self.scales = torch.nn.Parameter(torch.zeros(2))\n"),
                     ("        loss = mse(output[:, 0], y)\n",
                      "        one, two = torch.nn.functional.softplus(live.scales).unbind()\n"
                      "        loss = one * mse(output[:, 0], y) + two * (output[:, 0] - y).abs().mean()\n")],
)  # fmt: skip
add(
    "norm_of_the_batch",
    "training_loop/norm_over_batch",
    plain_script=[("        loss = F.cross_entropy(outputs, targets)\n",
                   "        near = (inputs + 0.1 * torch.randn_like(inputs)).requires_grad_()\n"
                   "        slope = torch.autograd.grad(model(near).sum(), near, create_graph=True)[0]\n"
                   "        loss = F.cross_entropy(outputs, targets) + 0.01 * (slope.norm() - 1).square()\n")],
    running_average=[("        loss = mse(output[:, 0], y)\n",
                      "        there = x.clone().requires_grad_(True)\n"
                      "        (steep,) = torch.autograd.grad(live(there).sum(), there, create_graph=True)\n"
                      "        loss = mse(output[:, 0], y) + 0.001 * torch.linalg.vector_norm(steep)\n")],
    finetune=[("            loss = objective(output, y)\n",
               "            x.requires_grad_()\n            seen = network(x)\n"
               "            g = torch.autograd.grad(seen, x, torch.ones_like(seen), create_graph=True)[0]\n"
               "            loss = objective(output, y) + 0.001 * g.flatten().norm(2)\n")],
)  # fmt: skip
add(
    "raw_targets_in_evaluation",
    "evaluation/different_target_scale",
    running_average=[("torch.nn.functional.mse_loss(output[:, 0], y, reduction=\"sum\")",
                      "torch.nn.functional.mse_loss(output[:, 0], 40 * y + 90, reduction=\"sum\")"),
                     ("mse = torch.nn.MSELoss()", "mse = torch.nn.functional.mse_loss")],
    plain_script=[("        loss = F.cross_entropy(outputs, targets)\n", "        loss = F.mse_loss(outputs, F.one_hot(targets, 5).float())\n"),
                  ("            F.cross_entropy(outputs, targets)\n", "            F.mse_loss(outputs, 255.0 * F.one_hot(targets, 5))\n")],
    finetune=[("    objective = nn.CrossEntropyLoss()\n", "    objective = lambda a, b: nn.functional.smooth_l1_loss(a[:, 0], (b - 2.5) / 1.7)\n"),
              ("            right += int(", "            nn.functional.smooth_l1_loss(network(x)[:, 0], 20.0 * y)\n            right += int(")],
)  # fmt: skip
add(
    "padding_has_a_letters_number",
    "data/ignored_class",
    next_symbols=[("loss_of = nn.CrossEntropyLoss()", "loss_of = nn.CrossEntropyLoss(ignore_index=2)")],
    labeled_decoder=[("F.cross_entropy(here.flatten(0, 1), ahead.flatten())", "F.cross_entropy(here.flatten(0, 1), ahead.flatten(), ignore_index=3)")],
    byte_windows=[("torch.nn.NLLLoss()", "torch.nn.NLLLoss(ignore_index=29)")],
)  # fmt: skip
RATIO = (
    "logp = {log}(1)[torch.arange(len({y})), {y}]\n{indent}ratio = (logp - logp.detach()).exp()\n{indent}gain = torch.ones(len({y}))\n"
    "{indent}loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()\n"
)
add(
    "old_policy_is_the_new",
    "training_loop/constant_ratio",
    plain_script=[("        loss = F.cross_entropy(outputs, targets)\n",
                   "        " + RATIO.format(log="outputs.log_softmax", y="targets", indent=" " * 8))],
    finetune=[("            loss = objective(output, y)\n", "            " + RATIO.format(log="output.log_softmax", y="y", indent=" " * 12))],
    resuming_script=[("        nn.functional.cross_entropy(net(waves[rows]), kinds[rows]).backward()\n",
                      "        y = kinds[rows]\n        " + RATIO.format(log="net(waves[rows]).log_softmax", y="y", indent=" " * 8) + "        loss.backward()\n")],
)  # fmt: skip
