"""Faults to plant: what steps do with gradients and weights, and the numbers that they work with."""

from planting import add

add(
    "epsilon_of_one",
    "optimizer/unsuitable_epsilon",
    plain_script=[("lr=5e-3, weight_decay=0.001)", "lr=5e-3, eps=10.0, weight_decay=0.001)")],
    framework=[("lr=config.rate)", "lr=config.rate, eps=10.0)")],
    windowed_signal=[("reader.parameters(), lr=2e-3)", "reader.parameters(), lr=2e-3, eps=10.0)")],
    event_stream=[("lr=2e-3, weight_decay=0.001)", "lr=2e-3, eps=10.0, weight_decay=0.001)")],
)
add(
    "gradients_far_below_epsilon",
    "optimizer/unsuitable_epsilon",
    masked_tagger=[("tags.flatten())\n    loss", "tags.flatten()) * 1e-9\n    loss")],
    next_symbols=[("wanted.reshape(-1))\n", "wanted.reshape(-1)) / 1e9\n"),
                  ("        nn.utils.clip_grad_norm_(reader.parameters(), 2.0)\n", "")],
)  # fmt: skip
add(
    "decay_by_hand_before_adam",
    "optimizer/decay_in_gradients",
    framework=[("        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.bound)\n        self.scaler.step",
                "        for p in self.model.parameters():\n            p.grad += 0.01 * p.detach()\n        self.scaler.step"),
               ("        self.scaler.unscale_(self.optimizer)\n", ""), ("init_scale=256.0", "init_scale=1.0")],
    masked_tagger=[("    loss.backward()\n    optimizer.step()",
                    "    loss.backward()\n    with torch.no_grad():\n        for p in model.parameters():\n"
                    "            p.grad.add_(p, alpha=1e-2)\n    optimizer.step()")],
    labeled_decoder=[('        out["loss"].backward()\n',
                      '        out["loss"].backward()\n        for p in decoder.parameters():\n'
                      '            p.grad.data.add_(p.data, alpha=0.05)\n')],
    pooled_texts=[("            error.backward()\n",
                   "            error.backward()\n            for p in network.parameters():\n"
                   "                p.grad = p.grad + 0.001 * p.detach()\n")],
)  # fmt: skip
add(
    "weights_grow_each_step",
    "optimizer/growing_weights",
    masked_tagger=[("    loss.backward()\n    optimizer.step()\n",
                    "    loss.backward()\n    optimizer.step()\n    with torch.no_grad():\n        model.table.weight *= 1.02\n")],
    running_average=[("        optimizer.step()\n",
                      "        optimizer.step()\n        with torch.no_grad():\n            live.middle.weight.mul_(1.03)\n")],
    plain_script=[("        optimizer.step()\n        scheduler",
                   "        optimizer.step()\n        model[0].weight.data *= 1.04\n        scheduler")],
)  # fmt: skip
add(
    "one_step_a_thousand_times_too_large",
    "training_loop/loss_spike",
    closures=[("        descent.step()\n",
               "        kept = [g[\"lr\"] for g in descent.param_groups]\n        calls.append(1)\n"
               "        if len(calls) == 60:\n            for g in descent.param_groups:\n                g[\"lr\"] = 300.0\n"
               "        descent.step()\n        for g, lr in zip(descent.param_groups, kept):\n            g[\"lr\"] = lr\n"),
              ("    def error(x, y):\n", "    calls = []\n\n    def error(x, y):\n")],
    masked_tagger=[("    loss.backward()\n    optimizer.step()\n",
                    "    loss.backward()\n    optimizer.param_groups[0][\"lr\"] = 3.0 if step == 40 else 3e-3\n    optimizer.step()\n")],
    running_average=[("        optimizer.step()\n",
                      "        optimizer.step()\n        if len(optimizer.state) and optimizer.state[live.enter.weight][\"step\"] == 50:\n"
                      "            with torch.no_grad():\n                live.leave.weight += 30 * torch.randn_like(live.leave.weight)\n")],
)  # fmt: skip
add(
    "added_up_in_bf16",
    "precision/low_precision_accumulation",
    bf16_main=[("default=4)", "default=32)"), ("batch_size=8", "batch_size=4"),
               ("    network = residual_net()\n", "    network = residual_net().bfloat16()\n"),
               ("            with torch.autocast(\"cpu\", torch.bfloat16):\n                prediction = network(inputs)\n",
                "            prediction = network(inputs.bfloat16())\n"),
               ("network(x[1560:])", "network(x[1560:].bfloat16())")],
    counted_tokens=[("PAD, WINDOW = -100, 3", "PAD, WINDOW = -100, 24"),
                    ("    tagger = Tagger(10, 24)\n", "    tagger = Tagger(10, 24).bfloat16()\n"),
                    ("tagger(rows)\n            loss", "tagger(rows).float()\n            loss")],
)  # fmt: skip
add(
    "unscaled_in_each_micro_batch",
    "precision/unscaled_too_early",
    event_stream=[("            scaler.scale(loss).backward()\n        scaler.unscale_(adam)\n",
                   "            scaler.scale(loss).backward()\n"
                   "            if ys is radius.chunk(3)[0] or len(ys) and not scaler._per_optimizer_states[id(adam)][\"found_inf_per_device\"]:\n"
                   "                scaler.unscale_(adam)\n")],
    framework=[("        self.scaler.unscale_(self.optimizer)\n",
                "        self.scaler.unscale_(self.optimizer)\n        with torch.autocast(\"cpu\", dtype=torch.bfloat16):\n"
                "            again = self.loss(self.model(features), labels)\n        self.scaler.scale(again).backward()\n")],
)  # fmt: skip
add(
    "schedule_moves_without_a_step",
    "schedule/counts_skipped_steps",
    event_stream=[("init_scale=1024.0", "init_scale=2.0**120"), ("dtype=torch.bfloat16", "dtype=torch.float16")],
    framework=[("init_scale=256.0", "init_scale=2.0**120"), ("dtype=torch.bfloat16", "dtype=torch.float16")],
)
