"""The faults that are planted in the hosts by rewriting their source, so that they hold no switch.

For each fault: the check that must find it, and for each host the texts that are replaced, each with
what takes its place. Each old text must be there exactly once.
"""

import dataclasses

from watching import FOLDER


@dataclasses.dataclass(frozen=True)
class Fault:
    check: str
    hosts: dict
    options: tuple = ()


def planted(fault, host):
    """The source of a host with a fault in it."""
    source = (FOLDER / "hosts" / f"{host}.py").read_text()
    for old, new in FAULTS[fault].hosts[host]:
        if source.count(old) != 1:
            raise ValueError(f"{fault}: {old!r} stands {source.count(old)} times in {host}.py")
        source = source.replace(old, new)
    return source


def add(name, check, options=(), **hosts):
    FAULTS[name] = Fault(check, hosts, tuple(options))


FAULTS = {}

# Faults that a host is known to hide, and why: left out where each fault runs in one host alone.
MISSED = {
    ("batch_collapsed", "framework"): "the mean of a batch",
    ("batch_collapsed", "running_average"): "a slice of a batch",
    ("ragged_tail", "finetune"): "several optimizers",
    ("shared_rows", "plain_script"): "a loader that drops its last batch",
    ("memory_grows", "trainer_class"): "memory of a run in two halves",
    ("optimizer_not_loaded", "plain_script"): "a file that the run wrote",
    ("optimizer_not_saved", "plain_script"): "one file, written again and again",
    ("optimizer_not_saved", "workers_and_contexts"): "files of a run that ends",
}

# --- gradients and the order of calls

add(
    "no_clearing",
    "optimizer/stale_gradients",
    plain_script=[("        optimizer.zero_grad()\n", "")],
    trainer_class=[("        self.optimizer.zero_grad()\n", "")],
    closures=[("        descent.zero_grad()\n", "")],
    bf16_main=[("                solver.zero_grad()\n", "")],
    event_stream=[("        adam.zero_grad()\n", "")],
)
add(
    "cleared_before_step",
    "gradients/cleared_before_step",
    plain_script=[("        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n")],
    closures=[("        value.backward()\n", "        value.backward()\n        descent.zero_grad()\n")],
    running_average=[("        loss.backward()\n", "        loss.backward()\n        live.zero_grad()\n")],
    finetune=[("            loss.backward()\n",
               "            loss.backward()\n            optimizer.zero_grad(set_to_none=False)\n")],
)
add(
    "detached_path",
    "gradients/missing",
    plain_script=[("outputs = model(inputs)\n        loss",
                   "outputs = model[4](model[:4](inputs).detach())\n        loss")],
    trainer_class=[("hidden = self.pool(torch.relu(self.norm(self.conv(pictures))))",
                    "hidden = self.pool(torch.relu(self.norm(self.conv(pictures)))).detach()")],
    closures=[("output = network(x)", "output = network[4](network[:4](x).data)")],
    counted_tokens=[("self.output(self.dropout(states))", "self.output(self.dropout(states.detach()))")],
)
add(
    "probabilities_into_loss",
    "model/doubled_softmax",
    plain_script=[("loss = F.cross_entropy(outputs,", "loss = F.cross_entropy(outputs.softmax(1),")],
    trainer_class=[("        return self.head(self.drop(hidden.flatten(1)))",
                    "        return torch.softmax(self.head(self.drop(hidden.flatten(1))), dim=1)")],
    finetune=[("objective(output, y)", "objective(nn.functional.softmax(output, -1), y)")],
    event_stream=[("body.append(torch.nn.Linear(32, 3))",
                   "body.append(torch.nn.Linear(32, 3)).append(torch.nn.Softmax(dim=-1))")],
)
add(
    "not_a_number",
    "numerics/nonfinite_values",
    plain_script=[("outputs = model(inputs)\n        loss",
                   "outputs = model(inputs / (scheduler.last_epoch != 90))\n        loss")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = self.criterion(logits, kinds)\n"
                    "        loss = loss / (self.schedule.last_epoch != 90)")],
    closures=[("torch.sin(2 * x[:, 0])", "torch.log(x[:, 0])")],
    running_average=[("        optimizer.step()\n",
                      "        optimizer.step()\n"
                      "        live.leave.bias.data *= float('inf')\n")],
)
add(
    "exploding",
    "gradients/exploding",
    plain_script=[
        ("loss.backward()", "(loss * 1000 ** (scheduler.last_epoch > 99 and torch.rand(()) < 0.1)).backward()"),
        ("        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n", ""),
    ],
    running_average=[("loss = mse(output[:, 0], y)",
                      "loss = mse(output[:, 0], y) * (1000 if round_number > 1 and torch.rand(()) < 0.06 else 1)")],
    finetune=[("loss = objective(output, y)",
               "loss = objective(output, y) * (500 if epoch > 1 and torch.rand(()) < 0.1 else 1)")],
)
add(
    "grown_after_clip",
    "gradients/ineffective_clip",
    plain_script=[("model.parameters(), 1.0)\n",
                   "model.parameters(), 1.0)\n        for p in model.parameters():\n            p.grad.mul_(40)\n")],
    trainer_class=[("self.net.parameters(), 2.0)\n",
                    "self.net.parameters(), 2.0)\n"
                    "        torch._foreach_mul_([p.grad for p in self.net.parameters()], 1e5)\n")],
    closures=[("network.parameters(), bound)\n",
               "network.parameters(), bound)\n"
               "        for p in network.parameters():\n            p.grad = p.grad * 90\n")],
)
add(
    "clipped_after_step",
    "gradients/late_clip",
    plain_script=[("        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        optimizer.step()\n",
                   "        optimizer.step()\n        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n")],
    trainer_class=[("        nn.utils.clip_grad_norm_(self.net.parameters(), 2.0)\n        self.optimizer.step()\n",
                    "        self.optimizer.step()\n        nn.utils.clip_grad_norm_(self.net.parameters(), 2.0)\n")],
    closures=[("        torch.nn.utils.clip_grad_norm_(network.parameters(), bound)\n        descent.step()\n",
               "        descent.step()\n        torch.nn.utils.clip_grad_norm_(network.parameters(), bound)\n")],
)
add(
    "clip_of_a_part",
    "gradients/partial_clip",
    plain_script=[("clip_grad_norm_(model.parameters()", "clip_grad_norm_(model[0].parameters()")],
    trainer_class=[("clip_grad_norm_(self.net.parameters()", "clip_grad_norm_(self.net.head.parameters()")],
    closures=[("clip_grad_norm_(network.parameters()", "clip_grad_norm_(network[0].parameters()")],
    bf16_main=[("clip_grad_norm_(network.parameters()", "clip_grad_norm_(network[0].parameters()")],
)
add(
    "deep_sigmoids",
    "gradients/vanishing",
    plain_script=[("    nn.ReLU(),\n", "    nn.ReLU(),\n    *[nn.Sigmoid() for _ in range(14)],\n")],
    closures=[("    layers += [torch.nn.Linear(width, width), torch.nn.Tanh()]\n",
               "    for _ in range(14):\n        layers += [torch.nn.Linear(width, width), torch.nn.Sigmoid()]\n")],
    event_stream=[("        body.append(torch.nn.GELU())\n",
                   "        body.extend([torch.nn.Sigmoid() for _ in range(14)])\n")],
)
add(
    "step_first",
    "loop/step_before_backward",
    plain_script=[
        ("        optimizer.step()\n", ""),
        ("        loss.backward()\n", "        optimizer.step()\n        loss.backward()\n"),
    ],
    running_average=[("        loss.backward()\n        optimizer.step()\n",
                      "        optimizer.step()\n        loss.backward()\n")],
    finetune=[("            loss.backward()\n            optimizer.step()\n",
               "            optimizer.step()\n            loss.backward()\n")],
)
add(
    "graph_retained",
    "loop/retained_graph",
    plain_script=[("loss.backward()", "loss.backward(retain_graph=True)")],
    trainer_class=[("loss.backward()", "loss.backward(retain_graph=True)")],
    closures=[("value.backward()", "value.backward(retain_graph=True)")],
    counted_tokens=[("(loss * share).backward()", "(loss * share).backward(retain_graph=True)")],
)
add(
    "graphs_kept",
    "loop/kept_graphs",
    plain_script=[("EPOCHS = 7\n", "EPOCHS = 7\ncurve = []\n"),
                  ("        loss.backward()\n", "        loss.backward()\n        curve.append(loss)\n")],
    trainer_class=[("return loss.detach()", "return loss")],
    closures=[("return value.item()", "return value")],
    running_average=[("round_number = 0\n", "round_number, total = 0, 0\n"),
                     ("        optimizer.zero_grad()\n", "        optimizer.zero_grad()\n        total += loss\n")],
)

# --- windows of micro-batches

add(
    "cleared_in_window",
    "gradients/cleared_in_window",
    counted_tokens=[("            logits = tagger(rows)\n",
                     "            optimizer.zero_grad()\n            logits = tagger(rows)\n")],
    bf16_main=[("            (loss / window).backward()\n",
                "            solver.zero_grad()\n            (loss / window).backward()\n")],
    event_stream=[("                logits = net(xs)\n", "                net.zero_grad()\n                logits = net(xs)\n")],
)
add(
    "clipped_in_window",
    "gradients/clipped_in_window",
    counted_tokens=[("            (loss * share).backward()\n        nn.utils",
                     "            (loss * share).backward()\n            nn.utils")],
    bf16_main=[
        ("                nn.utils.clip_grad_norm_(network.parameters(), 1.0)\n", ""),
        ("            (loss / window).backward()\n",
         "            (loss / window).backward()\n"
         "            nn.utils.clip_grad_norm_(network.parameters(), 1.0)\n"),
    ],
    plain_script=[(
        "        outputs = model(inputs)\n        loss = F.cross_entropy(outputs, targets)\n"
        "        loss.backward()\n        nn.utils.clip",
        "        for part, wanted in zip(inputs.chunk(2), targets.chunk(2)):\n"
        "            loss = F.cross_entropy(model(part), wanted) / 2\n            loss.backward()\n"
        "            nn.utils.clip")],
)
add(
    "divided_twice",
    "loop/doubly_divided_loss",
    counted_tokens=[("(loss * share).backward()", "(loss * share / len(window)).backward()")],
    bf16_main=[("(loss / window).backward()", "(loss / window / window).backward()")],
    event_stream=[("F.cross_entropy(logits, ys) / 3", "F.cross_entropy(logits, ys) / 3 / 3")],
)
add(
    "not_divided",
    "loop/undivided_accumulation",
    counted_tokens=[("(loss * share).backward()", "loss.backward()")],
    bf16_main=[("(loss / window).backward()", "loss.backward()")],
    event_stream=[("F.cross_entropy(logits, ys) / 3", "F.cross_entropy(logits, ys)")],
)
add(
    "ragged_tail",
    "loop/ragged_window",
    bf16_main=[("(loss / window)", "(loss / options.accumulation)")],
    plain_script=[
        ("T_max=EPOCHS * len(train_loader)", "T_max=EPOCHS * 10"),
        ("    for inputs, targets in train_loader:\n        optimizer.zero_grad()\n",
         "    for number, (inputs, targets) in enumerate(train_loader, 1):\n"),
        ("        loss.backward()\n",
         "        (loss / 4).backward()\n        if number % 4 and number < len(train_loader):\n"
         "            continue\n"),
        ("        optimizer.step()\n", "        optimizer.step()\n        optimizer.zero_grad()\n"),
    ],
    finetune=[
        ("        for x, y in loader:\n            optimizer.zero_grad()\n",
         "        for place, (x, y) in enumerate(loader):\n"),
        ("            loss.backward()\n            optimizer.step()\n",
         "            (loss / 6).backward()\n            if place % 6 == 5 or place == len(loader) - 1:\n"
         "                optimizer.step()\n                optimizer.zero_grad()\n"),
        ("epochs=6, freeze_at=2", "epochs=12, freeze_at=8"),
    ],
)
add(
    "mean_of_means",
    "loop/mean_of_means",
    counted_tokens=[("share = (tags != PAD).sum() / counted", "share = 1 / len(window)")],
    event_stream=[("zip(points.chunk(3), radius.chunk(3))",
                   "zip(points.split([40, 15, 5]), radius.split([40, 15, 5]))")],
    bf16_main=[("            start = index",
                "            inputs, labels = inputs[: 2 + index % 7], labels[: 2 + index % 7]\n"
                "            start = index")],
)

# --- losses

add(
    "summed",
    "loop/summed_loss",
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.cross_entropy(outputs, targets, reduction='sum')")],
    trainer_class=[("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(reduction='sum')")],
    running_average=[("torch.nn.MSELoss()", "torch.nn.MSELoss(reduction='sum')")],
    finetune=[("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(reduction='sum')")],
)
add(
    "all_pairs",
    "model/broadcast_loss",
    closures=[("mse_loss(output.squeeze(1), y)\n\n", "mse_loss(output, y)\n\n")],
    running_average=[("mse(output[:, 0], y)", "mse(output, y)")],
    finetune=[("objective(output, y)",
               "objective(output, y) + nn.functional.l1_loss(output[:, :1], y.float())")],
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.cross_entropy(outputs, targets)\n"
                   "        loss = loss + 0.1 * F.smooth_l1_loss(outputs[:, :1], targets.float())")],
)
add(
    "all_pairs_by_hand",
    "model/broadcast_loss",
    closures=[("torch.nn.functional.mse_loss(output.squeeze(1), y)\n\n",
               "((output - y) ** 2).mean()\n\n")],
    running_average=[("mse(output[:, 0], y)", "(output - y).abs().mean()")],
    finetune=[("objective(output, y)", "objective(output, y) + (output[:, :1] - y).square().mean()")],
)
add(
    "loud_start",
    "start/wrong_initial_loss",
    plain_script=[("outputs = model(inputs)\n        loss", "outputs = 25 * model(inputs)\n        loss")],
    trainer_class=[("        self.head = nn.Linear(channels * 16, 4)\n",
                    "        self.head = nn.Linear(channels * 16, 4)\n"
                    "        nn.init.normal_(self.head.weight, std=3)\n")],
    framework=[("return self.second(self.drop(hidden))", "return self.second(self.drop(hidden)) * 40")],
)
add(
    "nothing_counted",
    "data/ignored_targets",
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.cross_entropy(outputs, targets * 0 - 100)")],
    counted_tokens=[("tags.flatten(), ignore_index", "tags.flatten() * 0 + PAD, ignore_index")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = self.criterion(logits, torch.full_like(kinds, -100))")],
)

# --- data

add(
    "in_order",
    "data/unshuffled",
    plain_script=[("batch_size=32, shuffle=True", "batch_size=32")],
    trainer_class=[("batch_size=24, shuffle=True", "batch_size=24, shuffle=False")],
    framework=[("config.batch, shuffle=True", "config.batch")],
    running_average=[("batch_size=25, shuffle=True", "batch_size=25, shuffle=False")],
)
add(
    "order_again",
    "data/same_order",
    plain_script=[("for epoch in range(EPOCHS):\n",
                   "for epoch in range(EPOCHS):\n    torch.manual_seed(5)\n")],
    trainer_class=[("        self.net.train()\n", "        self.net.train()\n        torch.manual_seed(3)\n")],
    running_average=[("while round_number < 6:\n",
                      "while round_number < 6:\n    torch.random.manual_seed(SEED)\n")],
)
add(
    "first_batch_again",
    "data/repeated_batch",
    plain_script=[("batch_size=32, shuffle=True", "batch_size=32"),
                  ("    for inputs, targets in train_loader:\n",
                   "    for _ in range(len(train_loader)):\n"
                   "        inputs, targets = next(iter(train_loader))\n")],
    trainer_class=[("batch_size=24, shuffle=True", "batch_size=24"),
                   ("self.training_step(pictures, kinds) for pictures, kinds in self.learn]",
                    "self.training_step(*next(iter(self.learn))) for _ in range(len(self.learn))]")],
    running_average=[("batch_size=25, shuffle=True", "batch_size=25"),
                     ("    for x, y in learn:\n",
                      "    for _ in range(48):\n        x, y = next(iter(learn))\n")],
)
add(
    "shared_rows",
    "data/overlap",
    plain_script=[("TensorDataset(points[1200:], classes[1200:])",
                   "TensorDataset(points[1050:], classes[1050:])")],
    framework=[("TensorDataset(table[1280:], labels[1280:])",
                "TensorDataset(table[1180:], labels[1180:])")],
    running_average=[("Waves(1200, 1500)", "Waves(1100, 1500)")],
)
add(
    "batch_collapsed",
    "data/lost_batch_dimension",
    framework=[("            scores = self.model(features)\n            loss = self.loss(scores, labels)\n",
                "            scores = self.model(features.mean(0, keepdim=True))\n"
                "            loss = self.loss(scores, labels[:1])\n")],
    running_average=[("        output = live(x)\n        loss = mse(output[:, 0], y)\n",
                      "        output = live(x[:1])\n        loss = mse(output[:, 0], y[:1])\n")],
    finetune=[("            output = network(x)\n            loss = objective(output, y)\n",
               "            output = network(x[0].unsqueeze(0))\n"
               "            loss = objective(output, y[:1])\n")],
)
add(
    "workers_alike",
    "data/shared_worker_stream",
    workers_and_contexts=[("shuffle=True, num_workers=2",
                           "shuffle=True, num_workers=2, worker_init_fn=lambda _: torch.manual_seed(1)")],
    trainer_class=[
        ("batch_size=24, shuffle=True",
         "batch_size=24, shuffle=True, num_workers=2, worker_init_fn=lambda w: torch.manual_seed(0)"),
        ("return self.pictures[number],",
         "return self.pictures[number] + 0.1 * torch.randn(1, 8, 8),"),
    ],
    running_average=[
        ("batch_size=25, shuffle=True",
         "batch_size=25, shuffle=True, num_workers=2, worker_init_fn=lambda w: torch.manual_seed(7)"),
        ("return self.x[i], self.y[i]", "return self.x[i] + 0.02 * torch.randn(4), self.y[i]"),
    ],
)

# --- evaluations and modes

add(
    "evaluated_in_training_mode",
    "evaluation/training_mode",
    plain_script=[("    model.eval()\n", "")],
    trainer_class=[("        self.net.eval()\n", "")],
    framework=[("        self.model.eval()\n", "")],
    counted_tokens=[("    tagger.eval()\n", "")],
    finetune=[("    network.eval()\n", "")],
)
add(
    "evaluated_with_graph",
    "evaluation/with_gradients",
    plain_script=[("with torch.no_grad():", "with torch.enable_grad():")],
    trainer_class=[("    @torch.no_grad()\n", "")],
    framework=[("with torch.inference_mode():", "with torch.set_grad_enabled(True):")],
    counted_tokens=[("    with torch.no_grad():\n        for", "    if True:\n        for")],
)
add(
    "evaluation_writes",
    "evaluation/changed_state",
    plain_script=[("            right += (outputs", "            model[0].bias += 0.002\n            right += (outputs")],
    trainer_class=[("            hits += ", "            self.net.head.bias += 0.01\n            hits += ")],
    running_average=[("            output = network(x)\n            errors",
                      "            output = network(x)\n"
                      "            next(network.parameters()).mul_(0.999)\n            errors")],
    framework=[("                good += ", "                self.model.second.bias.data.mul_(0.99)\n                good += ")],
)
add(
    "noise_in_evaluation",
    "evaluation/differing_passes",
    trainer_class=[
        ("self.head(self.drop(hidden.flatten(1)))",
         "self.head(nn.functional.dropout(hidden.flatten(1), 0.2))"),
        ("            hits += ", "            self.criterion(logits, kinds)\n            hits += "),
        ("score = self.validate()", "score = min(self.validate(), self.validate())"),
    ],
    running_average=[
        ("torch.nn.functional.silu(self.enter(x))",
         "torch.nn.functional.dropout(torch.nn.functional.silu(self.enter(x)), 0.1)"),
        ("residual(live, held), residual(smooth, held))", "residual(live, held), residual(live, held))"),
    ],
    framework=[
        ("self.second(self.drop(hidden))", "self.second(nn.functional.dropout(hidden, 0.2))"),
        ("                good += ", "                self.loss(scores, labels)\n                good += "),
        ("self.values.append(learner.evaluate())",
         "self.values.append((learner.evaluate() + learner.evaluate()) / 2)"),
    ],
)
add(
    "never_in_training_mode",
    "loop/evaluation_mode",
    plain_script=[("    model.train()\n", ""), ("EPOCHS * len(train_loader))\n", "EPOCHS * len(train_loader))\nmodel.eval()\n")],
    trainer_class=[("        self.net.train()\n", "        self.net.eval()\n")],
    framework=[("            self.model.train()\n", "            self.model.eval()\n")],
    counted_tokens=[("    tagger.train()\n", "    tagger.eval()\n")],
)
add(
    "left_in_evaluation_mode",
    "loop/left_in_evaluation_mode",
    plain_script=[("    model.train()\n", "")],
    trainer_class=[("        self.net.train()\n", "")],
    framework=[("        for epoch in range(self.config.epochs):\n            self.model.train()\n",
                "        self.model.train()\n        for epoch in range(self.config.epochs):\n")],
    counted_tokens=[("    tagger.train()\n", "")],
    event_stream=[("    net.train()\n", ""), ("        body.append(torch.nn.GELU())\n",
                  "        body.append(torch.nn.GELU())\n        body.append(torch.nn.Dropout(0.05))\n")],
)

# --- optimizers, averages

add(
    "scales_decayed",
    "optimizer/decayed_norms",
    plain_script=[("weight_decay=0.001", "weight_decay=0.1")],
    event_stream=[("weight_decay=0.001", "weight_decay=0.1")],
    framework=[("torch.optim.Adam(model.parameters(), lr=config.rate)",
                "torch.optim.AdamW(model.parameters(), lr=config.rate, weight_decay=0.05)")],
)
add(
    "frozen_but_moving",
    "optimizer/frozen_moved",
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
    "optimizer/rebuilt",
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
    "optimizer/shared_parameters",
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
    "part_in_no_optimizer",
    "optimizer/untracked_parameters",
    plain_script=[("AdamW(model.parameters()", "AdamW(model[4].parameters()")],
    trainer_class=[("SGD(self.net.parameters()", "SGD(self.net.head.parameters()")],
    closures=[("SGD(network.parameters()", "SGD(network[2:].parameters()")],
)
add(
    "average_of_one",
    "optimizer/average_without_memory",
    running_average=[("get_ema_multi_avg_fn(0.97)", "get_ema_multi_avg_fn(0.0)")],
    workers_and_contexts=[("get_ema_multi_avg_fn(0.95)", "get_ema_multi_avg_fn(0.0)")],
    plain_script=[("EPOCHS * len(train_loader))\n",
                   "EPOCHS * len(train_loader))\n"
                   "mean = torch.optim.swa_utils.AveragedModel(model, avg_fn=lambda a, m, n: m)\n"),
                  ("        optimizer.step()\n", "        optimizer.step()\n        mean.update_parameters(model)\n")],
)
add(
    "average_never_moves",
    "optimizer/inert_average",
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
# --- mixed precision

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

# --- schedules

add(
    "moved_before_step",
    "schedule/before_step",
    plain_script=[("        optimizer.step()\n        scheduler.step()\n",
                   "        scheduler.step()\n        optimizer.step()\n")],
    trainer_class=[("        self.optimizer.step()\n        self.schedule.step()\n",
                    "        self.schedule.step()\n        self.optimizer.step()\n")],
    event_stream=[("        warm.step()\n", ""),
                  ("        scaler.step(adam)\n", "        warm.step()\n        scaler.step(adam)\n")],
)
add(
    "rate_dies",
    "schedule/dead_rate",
    plain_script=[("CosineAnnealingLR(optimizer, T_max=EPOCHS * len(train_loader))",
                   "LambdaLR(optimizer, lambda step: max(0.0, 1 - step / 60))")],
    running_average=[("ExponentialLR(optimizer, 0.8)", "ExponentialLR(optimizer, 0.0)")],
    bf16_main=[("milestones=[3], gamma=0.3", "milestones=[2], gamma=0.0")],
)
add(
    "schedule_forgotten",
    "schedule/never_moved",
    plain_script=[("        scheduler.step()\n", "")],
    running_average=[("    decay.step()\n", "")],
    bf16_main=[("        milestones.step()\n", "")],
    workers_and_contexts=[("                plan.step()\n", "")],
)
add(
    "schedule_of_another",
    "schedule/other_optimizer",
    plain_script=[("CosineAnnealingLR(optimizer,", "CosineAnnealingLR(torch.optim.SGD(model.parameters(), lr=0.1),")],
    framework=[("LinearLR(learner.optimizer,", "LinearLR(torch.optim.Adam(learner.model.parameters(), lr=0.1),")],
    event_stream=[("LinearLR(adam,", "LinearLR(torch.optim.AdamW(net.parameters(), lr=2e-3),")],
)
add(
    "made_for_steps",
    "schedule/wrong_horizon",
    plain_script=[("        scheduler.step()\n    accuracy", "    scheduler.step()\n    accuracy")],
    framework=[("    def after_step(self, learner):\n        self.rule",
                "    def after_epoch(self, learner):\n        self.rule")],
    bf16_main=[("MultiStepLR(solver, milestones=[3], gamma=0.3)",
                "CosineAnnealingLR(solver, options.epochs * 1560 // 8)"),
               ("        milestones.step()\n", ""),
               ("                solver.step()\n", "                solver.step()\n                milestones.step()\n")],
)

# --- checkpoints

RESET = "lambda m: m.reset_parameters() if hasattr(m, 'reset_parameters') else None"

add(
    "optimizer_not_loaded",
    "checkpoint/forgotten_state",
    trainer_class=[('        self.optimizer.load_state_dict(content["optimizer"])\n', "")],
    workers_and_contexts=[('                rule.load_state_dict(saved["rule"])\n', "")],
    plain_script=[("for epoch in range(EPOCHS):\n",
                   "for epoch in range(EPOCHS):\n    if epoch == 3:\n"
                   "        model.load_state_dict(torch.load(os.path.join(folder.name, 'last.pt'))['model'])\n")],
)
add(
    "optimizer_not_saved",
    "checkpoint/missing_state",
    plain_script=[('        "optimizer": optimizer.state_dict(),\n', "")],
    trainer_class=[("            schedule=self.schedule.state_dict(),\n", ""),
                   ('        self.schedule.load_state_dict(content["schedule"])\n', "")],
    workers_and_contexts=[('"rule": rule, ', ""), ('                rule.load_state_dict(saved["rule"])\n', "")],
)
add(
    "nan_saved",
    "checkpoint/nonfinite_save",
    plain_script=[('"model": model.state_dict()',
                   '"model": {name: value.float().log() for name, value in model.state_dict().items()}')],
    closures=[("    return test(network, source), history",
               "    spoilt = {name: value / 0 for name, value in network.state_dict().items()}\n"
               "    torch.save(spoilt, 'spoilt.pt')\n"
               "    return test(network, source), history")],
    event_stream=[("        if number % 60 == 59:\n",
                   "        if number % 60 == 59:\n"
                   "            torch.save({'net': {k: (v - v) / 0 for k, v in net.state_dict().items()}}, 'net.pt')\n")],
)
add(
    "names_of_another",
    "checkpoint/nothing_loaded",
    finetune=[("body = {name: value for", "body = {'module.' + name: value for")],
    trainer_class=[('self.net.load_state_dict(content["net"])',
                    "self.net.load_state_dict({'model.' + k: v for k, v in content['net'].items()}, strict=False)")],
    workers_and_contexts=[('module.load_state_dict(saved["module"])',
                           "module.load_state_dict({'net.' + k: v for k, v in saved['module'].items()}, strict=False)")],
)
add(
    "initialised_after_loading",
    "checkpoint/overwritten_weights",
    finetune=[("    network.load_state_dict(body, strict=False)\n",
               f"    network.load_state_dict(body, strict=False)\n    network.apply({RESET})\n")],
    trainer_class=[('        self.net.load_state_dict(content["net"])\n',
                    f'        self.net.load_state_dict(content["net"])\n        self.net.apply({RESET})\n')],
    workers_and_contexts=[('                module.load_state_dict(saved["module"])\n',
                           '                module.load_state_dict(saved["module"])\n'
                           f"                module.apply({RESET})\n")],
)

# --- the budget, and the end

add(
    "anomaly_detection",
    "budget/debugging",
    plain_script=[("EPOCHS = 7\n", "EPOCHS = 7\ntorch.autograd.set_detect_anomaly(True)\n")],
    framework=[('        self.tell("before_fit")\n',
                '        torch.autograd.set_detect_anomaly(True)\n        self.tell("before_fit")\n')],
    finetune=[("    objective = nn", "    torch.autograd.set_detect_anomaly(True)\n    objective = nn")],
)
add(
    "slow_reading",
    "budget/loader_wait",
    running_average=[("import math\n", "import math\nimport time\n"),
                     ("        return self.x[i], self.y[i]",
                      "        time.sleep(0.0004)\n        return self.x[i], self.y[i]")],
    trainer_class=[("import tempfile\n", "import tempfile\nimport time\n"),
                   ("        return self.pictures[number]",
                    "        time.sleep(0.0005)\n        return self.pictures[number]")],
    counted_tokens=[("import argparse\n", "import argparse\nimport time\n"),
                    ("        row = self.rows[index]\n", "        row = self.rows[index]\n        time.sleep(0.0006)\n")],
)
add(
    "memory_grows",
    "budget/memory_slope",
    plain_script=[("EPOCHS = 7\n", "EPOCHS = 7\nhoard = []\n"),
                  ("        optimizer.step()\n", "        optimizer.step()\n        hoard.append(torch.ones(300_000))\n")],
    trainer_class=[("class Trainer:\n", "hoard = []\n\n\nclass Trainer:\n"),
                   ("        return loss.detach()",
                    "        hoard.append(b'1' * 1_500_000)\n        return loss.detach()")],
    running_average=[("round_number = 0\n", "round_number, memory = 0, []\n"),
                     ("        optimizer.step()\n", "        optimizer.step()\n        memory += [1.5] * 200_000\n")],
)
add(
    "steps_slow_down",
    "budget/slowing_steps",
    plain_script=[("import sys\n", "import sys\nimport time\n"),
                  ("        optimizer.step()\n", "        optimizer.step()\n        time.sleep((scheduler.last_epoch / 259) ** 3 * 0.06)\n")],
    closures=[("import sys\n", "import sys\nimport time\n"),
              ("        history.append(update(x, y))\n",
               "        history.append(update(x, y))\n        time.sleep((len(history) / 400) ** 3 * 0.04)\n")],
    event_stream=[("import sys\n", "import sys\nimport time\n"),
                  ("        warm.step()\n", "        warm.step()\n        time.sleep((number / 300) ** 3 * 0.06)\n")],
)
add(
    "slow_steps",
    "budget/step_time",
    ("--set", "budget/step_time:limit=0.01"),
    plain_script=[("import sys\n", "import sys\nimport time\n"),
                  ("        optimizer.step()\n", "        optimizer.step()\n        time.sleep(0.015)\n")],
    closures=[("import sys\n", "import sys\nimport time\n"), ("        descent.step()\n", "        time.sleep(0.012)\n        descent.step()\n")],
    running_average=[("import math\n", "import math\nimport time\n"),
                     ("        loss.backward()\n", "        loss.backward()\n        time.sleep(0.012)\n")],
)
add(
    "too_much_memory",
    "budget/memory",
    ("--set", "budget/memory:limit=1.2e9"),
    plain_script=[("EPOCHS = 7\n", "EPOCHS = 7\nballast = torch.ones(300_000_000)\n")],
    closures=[("    network = build(32)\n", "    network = build(32)\n    ballast = bytearray(b'1') * 1_200_000_000\n")],
    finetune=[("    objective = nn", "    ballast = torch.ones(300_000_000)\n    objective = nn")],
)
add(
    "ends_early",
    "program/failed",
    plain_script=[("        optimizer.step()\n", "        optimizer.step()\n        assert scheduler.last_epoch < 70\n")],
    trainer_class=[("        self.optimizer.step()\n",
                    "        self.optimizer.step()\n        if self.schedule.last_epoch == 100:\n            sys.exit(3)\n")],
    closures=[("        history.append(update(x, y))\n",
               "        history.append(update(x, y) / (len(history) != 150))\n")],
)
