"""Faults to plant: mixed precision."""

from planting import add

SCALED = "        scaler.scale(loss).backward()\n"
PLAIN_STEP = (
    "        loss.backward()\n        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
    "        optimizer.step()\n"
)
PLAIN_SCALER = ("EPOCHS = 7\n", "EPOCHS = 7\nscaler = torch.amp.GradScaler('cpu', init_scale=4096.0)\n")
SCALER_STEP = "        scaler.step(optimizer)\n        scaler.update()\n"
NOT_FINITE = " + ((scores * 0).sqrt().sum() if torch.rand(()) < 0.25 else 0)"

add(
    "scaler_without_autocast",
    "precision/autocast_not_applied",
    event_stream=[('            with torch.autocast("cpu", dtype=torch.bfloat16):\n                logits = net(xs)\n',
                   "            logits = net(xs)\n")],
    framework=[('with torch.autocast("cpu", dtype=torch.bfloat16):',
                'with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):')],
    plain_script=[PLAIN_SCALER, (PLAIN_STEP, SCALED + SCALER_STEP)],
)
add(
    "step_inside_autocast",
    "precision/autocast_around_step",
    bf16_main=[("                solver.step()\n",
                "                with torch.autocast('cpu', torch.bfloat16):\n                    solver.step()\n")],
    workers_and_contexts=[
        ("            loss = criterion(answer, kinds)\n        rule.zero_grad()\n        loss.backward()\n"
         "        nn.utils.clip_grad_norm_(module.parameters(), 1.0)\n        rule.step()\n",
         "            loss = criterion(answer, kinds)\n            rule.zero_grad()\n            loss.backward()\n"
         "            nn.utils.clip_grad_norm_(module.parameters(), 1.0)\n            rule.step()\n")],
    framework=[("        self.scaler.step(self.optimizer)\n",
                "        with torch.autocast('cpu', dtype=torch.bfloat16):\n"
                "            self.scaler.step(self.optimizer)\n")],
)
add(
    "clipped_while_scaled",
    "precision/clip_before_unscale",
    framework=[("        self.scaler.unscale_(self.optimizer)\n"
                "        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.bound)\n",
                "        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.bound)\n"
                "        self.scaler.unscale_(self.optimizer)\n")],
    event_stream=[("        scaler.unscale_(adam)\n"
                   "        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)\n",
                   "        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)\n")],
    plain_script=[PLAIN_SCALER, (PLAIN_STEP, SCALED + (
        "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n") + SCALER_STEP)],
)
add(
    "stepped_while_scaled",
    "precision/scaled_step",
    framework=[("        self.scaler.unscale_(self.optimizer)\n"
                "        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.bound)\n"
                "        self.scaler.step(self.optimizer)\n        self.scaler.update()\n",
                "        self.optimizer.step()\n")],
    event_stream=[("        scaler.unscale_(adam)\n", ""), ("        scaler.step(adam)\n        scaler.update()\n",
                                                           "        adam.step()\n")],
    plain_script=[PLAIN_SCALER, (PLAIN_STEP, SCALED + "        optimizer.step()\n")],
)
add(
    "quarter_left_out",
    "precision/skipped_steps",
    framework=[("loss = self.loss(scores, labels)", "loss = self.loss(scores, labels)" + NOT_FINITE)],
    event_stream=[("F.cross_entropy(logits, ys) / 3",
                   "F.cross_entropy(logits, ys) / 3\n"
                   "            if number % 5 == 2:\n"
                   "                loss = loss + (logits.detach() * 0 * net[0].weight.sum()).sqrt().sum()")],
    plain_script=[
        PLAIN_SCALER,
        (PLAIN_STEP, "        if torch.rand(()) < 0.2:\n"
         "            loss = loss + (outputs * 0).sqrt().sum()\n" + SCALED + SCALER_STEP),
    ],
)
add(
    "scale_stays",
    "precision/stuck_scale",
    framework=[("loss = self.loss(scores, labels)", "loss = self.loss(scores, labels)" + NOT_FINITE),
               ("init_scale=256.0, growth_interval=100",
                "init_scale=256.0, growth_interval=5, backoff_factor=1 - 1e-9")],
    event_stream=[("F.cross_entropy(logits, ys) / 3",
                   "F.cross_entropy(logits, ys) / 3\n"
                   "            if number % 7 == 3:\n"
                   "                loss = loss + (logits * 0).sqrt().sum()"),
                  ("init_scale=1024.0", "init_scale=1024.0, growth_interval=4, backoff_factor=1 - 1e-9")],
    plain_script=[
        ("EPOCHS = 7\n",
         "EPOCHS = 7\nscaler = torch.amp.GradScaler('cpu', 64.0, 2.0, 1 - 1e-9, growth_interval=5)\n"),
        (PLAIN_STEP, "        if torch.rand(()) < 0.3:\n"
         "            loss = loss + (outputs * 0).sqrt().sum()\n" + SCALED +
         SCALER_STEP),
    ],
)
add(
    "steps_on_overflow",
    "precision/nonfinite_step",
    framework=[("loss = self.loss(scores, labels)", "loss = self.loss(scores, labels)" + NOT_FINITE),
               ("self.scaler.step(self.optimizer)", "self.optimizer.step()")],
    event_stream=[("F.cross_entropy(logits, ys) / 3",
                   "F.cross_entropy(logits, ys) / 3\n"
                   "            if number == 40:\n"
                   "                loss = loss + (logits * 0).sqrt().sum()"),
                  ("scaler.step(adam)", "adam.step()")],
    plain_script=[
        PLAIN_SCALER,
        (PLAIN_STEP, "        if scheduler.last_epoch == 50:\n"
         "            loss = loss + (outputs * 0).sqrt().sum()\n" + SCALED +
         "        scaler.unscale_(optimizer)\n        optimizer.step()\n        scaler.update()\n"),
    ],
)
add(
    "rounded_away",
    "precision/lost_updates",
    plain_script=[("optimizer = torch.optim", "model.bfloat16()\noptimizer = torch.optim"),
                  ("lr=5e-3", "lr=2e-5"),
                  ("outputs = model(inputs)\n        loss", "outputs = model(inputs.bfloat16())\n        loss"),
                  ("outputs = model(inputs)\n            F.", "outputs = model(inputs.bfloat16())\n            F.")],
    closures=[("network = build(32)", "network = build(32).to(torch.bfloat16)"),
              ("lr=0.1, momentum=0.9", "lr=1e-4"),
              ("        yield x, surface(x)", "        yield x.bfloat16(), surface(x).bfloat16()")],
    finetune=[("network = Network(4)", "network = Network(4).bfloat16()"),
              ("lr=0.05, momentum=0.9, weight_decay=0.001", "lr=1e-4"),
              ("            output = network(x)\n",
               "            output = network(x.to(network.lower.weight.dtype))\n"),
              ("network(x).argmax(1)", "network(x.bfloat16()).argmax(1)")],
)
add(
    "loss_in_half",
    "precision/half_precision_loss",
    finetune=[("objective(output, y)", "objective(output.half(), y)")],
    trainer_class=[("self.criterion(logits, kinds)", "self.criterion(logits.half(), kinds)")],
    plain_script=[("        loss = F.cross_entropy(outputs, targets)\n",
                   "        loss = F.cross_entropy(outputs.half(), targets)\n")],
)  # fmt: skip
add(
    "scaler_left_out",
    "precision/missing_loss_scaler",
    event_stream=[("init_scale=1024.0", "enabled=False"), ("dtype=torch.bfloat16", "dtype=torch.float16")],
    framework=[("init_scale=256.0, growth_interval=100", "enabled=False"), ("dtype=torch.bfloat16", "dtype=torch.float16")],
    workers_and_contexts=[("dtype=torch.bfloat16", "dtype=torch.float16")],
)  # fmt: skip
# The first loss overflows, so the scaler skips the step that makes the momentum.
OVERFLOWS = " * (float('inf') if not {0}.state else 1)"
add(
    "momentum_of_skipped_step",
    "optimizer/uninitialized_momentum",
    plain_script=[
        PLAIN_SCALER,
        ("torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.001)",
         "torch.optim.SGD(model.parameters(), lr=5e-3, momentum=0.9, fused=True)"),
        (PLAIN_STEP, SCALED.replace("(loss)", f"(loss{OVERFLOWS.format('optimizer')})") + SCALER_STEP),
    ],
    framework=[
        ("torch.optim.Adam(model.parameters(), lr=config.rate)",
         "torch.optim.SGD(model.parameters(), lr=config.rate, momentum=0.9, fused=True)"),
        ("scale(loss)", f"scale(loss{OVERFLOWS.format('self.optimizer')})"),
    ],
    event_stream=[
        ("torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.001)",
         "torch.optim.SGD(net.parameters(), lr=2e-3, momentum=0.9, fused=True)"),
        ("scale(loss)", f"scale(loss{OVERFLOWS.format('adam')})"),
    ],
)
