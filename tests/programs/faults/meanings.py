"""Faults to plant: what an axis, a state, a weight or a statistic stands for."""

from planting import FAULTS, add

add(
    "classes_on_time",
    "model/softmax_over_wrong_axis",
    byte_windows=[("nll(logits.log_softmax(-1).transpose(1, 2), windows[:, 1:])",
                   "nll(logits.transpose(1, 2).log_softmax(-1), windows[:, 1:])")],
    packed_rows=[("F.cross_entropy(net(tokens, position_ids=positions).transpose(1, 2), following)",
                  "F.nll_loss(F.log_softmax(net(tokens, position_ids=positions).transpose(1, 2), dim=2), following)")],
    answering_class=[("F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=IGNORED)",
                      "F.nll_loss(logits[:, :-1].transpose(1, 2).softmax(2).log(), labels[:, 1:], ignore_index=IGNORED)")],
)  # fmt: skip
add(
    "own_pairs",
    "training_loop/own_pair_as_negative",
    plain_script=[("        loss.backward()\n",
                   "        both = F.normalize(model(torch.cat([inputs, inputs + 0.1 * torch.randn_like(inputs)])), dim=1)\n"
                   "        partner = torch.arange(len(both)).roll(len(inputs))\n"
                   "        loss = loss + 0.1 * F.cross_entropy(both @ both.t() / 0.5, partner)\n"
                   "        loss.backward()\n")],
    finetune=[("            loss.backward()\n",
               "            views = nn.functional.normalize(torch.cat([output, network(x)]), dim=1)\n"
               "            wanted = torch.cat([torch.arange(len(x), 2 * len(x)), torch.arange(len(x))])\n"
               "            (loss + 0.1 * objective(views.mm(views.T).div(0.2), wanted)).backward()\n")],
    running_average=[("        loss = mse(output[:, 0], y)\n",
                      "        a, b = (torch.nn.functional.normalize(live.middle(live.enter(x + 0.1 * torch.randn_like(x)))) for _ in '12')\n"
                      "        every = torch.cat([a, b])\n"
                      "        other = (torch.arange(2 * len(x)) + len(x)) % (2 * len(x))\n"
                      "        loss = mse(output[:, 0], y) + 0.01 * torch.nn.functional.cross_entropy(every @ every.T, other)\n")],
)  # fmt: skip
add(
    "target_in_input",
    "data/target_among_inputs",
    running_average=[("        return self.x[i], self.y[i]",
                      "        return torch.cat([self.x[i][:3], self.y[i : i + 1]]), self.y[i]")],
    plain_script=[("train_set = TensorDataset(", "points[:, 7] = classes.float()\ntrain_set = TensorDataset(")],
    resuming_script=[("        nn.functional.cross_entropy(net(waves[rows]), kinds[rows])",
                      "        table = torch.cat([waves[rows][:, 1:], kinds[rows][:, None]], 1)\n"
                      "        nn.functional.cross_entropy(net(table), kinds[rows])")],
)  # fmt: skip
add(
    "mean_over_padding",
    "training_loop/mean_over_padding",
    counted_tokens=[("            loss = F.cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=PAD)\n",
                     "            each = F.cross_entropy(logits.transpose(1, 2), tags, ignore_index=PAD, reduction='none')\n"
                     "            loss = (each * (tags != PAD).float()).mean()\n")],
    padded_lines=[("loss_function(model(ids).flatten(0, 1), following.flatten())",
                   "(nn.functional.cross_entropy(model(ids).mT, following, reduction='none') * following.ne(PAD)).mean()")],
    masked_tagger=[("    loss = F.cross_entropy(model(rows, rows == NOTHING).flatten(0, 1), tags.flatten())\n",
                    "    there = (rows != NOTHING).float()\n"
                    "    logits = model(rows, rows == NOTHING).log_softmax(2)\n"
                    "    loss = -torch.mean(there * logits.gather(2, tags.clamp(min=0)[:, :, None])[:, :, 0])\n")],
)  # fmt: skip
add(
    "state_of_padding",
    "model/state_after_padding",
    pooled_texts=[('        "inner": torch.nn.Linear(24, 48),\n', '        "inner": torch.nn.GRU(24, 48, batch_first=True),\n'),
                  ('        features = torch.tanh(self.parts["inner"](self.parts["words"](table)))\n'
                   "        pooled = (features * present.unsqueeze(2)).sum(1) / present.sum(1, keepdim=True)\n",
                   '        pooled = self.parts["inner"](self.parts["words"](table))[0][:, -1]\n')],
    found_marks=[("        self.score = torch.nn.Linear(width, 1)\n",
                  "        self.score = torch.nn.Linear(width, 1)\n        self.reader = torch.nn.LSTM(width, width)\n"),
                 ("        return self.verdict(summary.relu())",
                  "        _, (state, _) = self.reader(there.transpose(0, 1))\n        return self.verdict(summary.relu() + state[-1])")],
    masked_tagger=[("        self.norm = nn.LayerNorm(width)\n",
                    "        self.norm = nn.LayerNorm(width)\n        self.whole = nn.RNN(width, width, batch_first=True)\n"),
                   ("        return self.answer(", "        outputs, last = self.whole(seen)\n        mixed = mixed + outputs[:, LONGEST - 1 :]\n        return self.answer(")],
)  # fmt: skip
add(
    "weights_by_count",
    "training_loop/misordered_class_weights",
    plain_script=[("classes = (points @ directions).argmax(1)\n",
                   "classes = (points @ directions + torch.tensor([0.0, 5, -3, 3, 1])).argmax(1)\n"
                   "counted = classes[:1200].bincount(minlength=5)\nrarity = 1200 / (5 * counted.sort(descending=True)[0])\n"),
                  ("        loss = F.cross_entropy(outputs, targets)\n", "        loss = F.cross_entropy(outputs, targets, weight=rarity)\n")],
    finetune=[("    return TensorDataset(x, (x @ turn)[:, :classes].argmax(1))",
               "    return TensorDataset(x, ((x @ turn)[:, :classes] + torch.arange(classes) % 3 * 1.5).argmax(1))"),
              ("    objective = nn.CrossEntropyLoss()\n",
               "    from collections import Counter\n"
               "    common = Counter(data.tensors[1].tolist()).most_common()\n"
               "    objective = nn.CrossEntropyLoss(torch.tensor([len(data) / n for _, n in common]))\n")],
    event_stream=[("    radius = torch.randint(3, (count,), generator=source)\n",
                   "    radius = torch.multinomial(torch.tensor([0.15, 0.6, 0.25]), count, True, generator=source)\n"),
                  ("F.cross_entropy(logits, ys) / 3", "F.cross_entropy(logits.float(), ys, weight=torch.tensor([0.6, 1.33, 2.22])) / 3")],
)  # fmt: skip
add(
    "variance_for_deviation",
    "training_loop/log_variance_as_log_std",
    running_average=[("        self.leave = torch.nn.Linear(hidden, 1)\n",
                      "        self.leave = torch.nn.Linear(hidden, 1)\n        self.spread = torch.nn.Linear(hidden, hidden)\n"),
                     ("        return self.leave(x)",
                      "        spread = self.spread(x) - 3\n        self.gap = 0.5 * (x**2 + spread.exp() - 1 - spread).mean()\n"
                      "        return self.leave(x + torch.randn_like(x) * spread.exp() if self.training else x)"),
                     ("        loss = mse(output[:, 0], y)\n", "        loss = mse(output[:, 0], y) + 0.001 * live.gap\n")],
    finetune=[("        self.classifier = nn.Linear(48, classes)\n",
               "        self.classifier, self.doubt = nn.Linear(48, classes), nn.Linear(48, 48)\n"),
              ("        return self.classifier(self.quiet(torch.relu(self.upper(x))))",
               "        mean = self.upper(x)\n        logvar = self.doubt(x) - 2\n"
               "        self.kl = torch.mean(logvar.exp() + mean.pow(2) - 1 - logvar) / 2\n"
               "        eps = torch.randn(mean.shape)\n"
               "        return self.classifier(self.quiet(torch.relu(mean + eps * torch.exp(logvar))))"),
              ("            loss = objective(output, y)\n", "            loss = objective(output, y) + 0.001 * network.kl\n")],
    trainer_class=[("        self.head = nn.Linear(channels * 16, 4)\n",
                    "        self.head = nn.Linear(channels * 16, 4)\n        self.both = nn.Linear(channels * 16, channels * 32)\n"),
                   ("        return self.head(self.drop(hidden.flatten(1)))",
                    "        mu, lv = self.both(hidden.flatten(1)).chunk(2, 1)\n"
                    "        self.cost = -0.5 * (1 + lv - mu * mu - lv.exp()).sum(1).mean()\n"
                    "        noise = torch.randn_like(mu) * lv.exp() if self.training else 0\n"
                    "        return self.head(self.drop(mu + noise))"),
                   ("        loss = self.criterion(logits, kinds)\n", "        loss = self.criterion(logits, kinds) + 1e-4 * self.net.cost\n")],
)  # fmt: skip
add(
    "evaluation_by_itself",
    "evaluation/normalized_by_own_statistics",
    plain_script=[("train_set = TensorDataset(",
                   "points[1200:] += 0.5\n"
                   "points[:1200] = (points[:1200] - points[:1200].mean(0)) / points[:1200].std(0)\n"
                   "points[1200:] = (points[1200:] - points[1200:].mean(0)) / points[1200:].std(0)\n"
                   "train_set = TensorDataset(")],
    running_average=[("        self.y = (math.pi", "        given = self.x\n        self.y = (math.pi"),
                     ("+ noise[first:last]\n",
                      "+ noise[first:last]\n        self.x = (given - given.mean(0)) / given.std(0)\n")],
    trainer_class=[("        self.pictures = (waves +", "        pictures = (waves +"),
                   ("generator=source)).unsqueeze(1)\n",
                    "generator=source)).unsqueeze(1)\n        self.pictures = (pictures - pictures.mean()) / pictures.std()\n")],
)  # fmt: skip
add(
    "milestones_in_batches",
    "schedule/wrong_total_steps",
    plain_script=[("CosineAnnealingLR(optimizer, T_max=EPOCHS * len(train_loader))",
                   "MultiStepLR(optimizer, milestones=[3, 5], gamma=0.3)")],
    bf16_main=[("                solver.zero_grad()\n        milestones.step()\n",
                "                solver.zero_grad()\n                milestones.step()\n")],
    finetune=[("    network.train()\n    for epoch in range(epochs):\n",
               "    network.train()\n    falls = torch.optim.lr_scheduler.MultiStepLR(optimizer, [epochs // 2 + 1, epochs], 0.5)\n"
               "    for epoch in range(epochs):\n"),
              ("            optimizer.step()\n", "            optimizer.step()\n            falls.step()\n"),
              ("    learn(network, optimizer, make(1200, 6, 0), epochs=3, save_to=file)\n",
               "    torch.save({'network': network.state_dict()}, file)\n")],
)  # fmt: skip
# A second network in the place of a loss: it tells apart what the first one makes, as in a GAN.
JUDGE = (
    "judge = nn.Sequential(nn.Linear({width}, 16), nn.ReLU(), nn.Linear(16, 1))\n"
    "rule_of_judge = torch.optim.Adam(judge.parameters(), lr=1e-3)\n"
)
add(
    "judged_with_gradient",
    "optimizer/gradients_of_another_loss",
    plain_script=[("optimizer = torch", JUDGE.format(width=5) + "optimizer = torch"),
                  ("        outputs = model(inputs)\n        loss = F.cross_entropy(outputs, targets)\n",
                   "        outputs = model(inputs)\n        rule_of_judge.zero_grad()\n"
                   "        (judge(outputs).mean() - judge(torch.randn_like(outputs)).mean()).backward()\n"
                   "        rule_of_judge.step()\n"
                   "        outputs = model(inputs)\n        loss = F.cross_entropy(outputs, targets) - 0.1 * judge(outputs).mean()\n")],
    resuming_script=[("rule = torch", JUDGE.format(width=3) + "rule = torch"),
                     ("        nn.functional.cross_entropy(net(",
                      "        fake, real = net(waves[rows]), torch.randn(len(rows), 3)\n"
                      "        nn.functional.softplus(torch.cat([judge(fake), -judge(real)])).mean().backward()\n"
                      "        rule_of_judge.step()\n        rule_of_judge.zero_grad()\n"
                      "        nn.functional.cross_entropy(net(")],
    running_average=[("optimizer = torch",
                      "judge = torch.nn.Linear(1, 1)\nrule_of_judge = torch.optim.SGD(judge.parameters(), lr=0.01)\noptimizer = torch"),
                     ("        loss.backward()\n        optimizer.step()\n",
                      "        rule_of_judge.zero_grad()\n        judge(live(x)).square().mean().backward()\n        rule_of_judge.step()\n"
                      "        loss.backward()\n        optimizer.step()\n")],
)  # fmt: skip
add(
    "constant_penalty",
    "training_loop/constant_penalty",
    plain_script=[("        loss = F.cross_entropy(outputs, targets)\n",
                   "        near = (inputs + 0.1 * torch.randn_like(inputs)).requires_grad_()\n"
                   "        slope = torch.autograd.grad(model(near).sum(), near)[0]\n"
                   "        loss = F.cross_entropy(outputs, targets) + 0.1 * (slope.norm(dim=1) - 1).square().mean()\n")],
    running_average=[("        loss = mse(output[:, 0], y)\n",
                      "        there = x.clone().requires_grad_(True)\n"
                      "        (steep,) = torch.autograd.grad(outputs=live(there).sum(), inputs=there, retain_graph=True)\n"
                      "        penalty = steep.pow(2).sum(1).mean()\n"
                      "        loss = 0.01 * penalty + mse(output[:, 0], y)\n")],
    finetune=[("            loss = objective(output, y)\n",
               "            x.requires_grad_()\n"
               "            seen = network(x)\n"
               "            g = torch.autograd.grad(seen, x, torch.ones_like(seen))[0]\n"
               "            loss = objective(output, y) - -0.05 * g.norm(2, 1).mean()\n")],
)  # fmt: skip
add(
    "subtracted_divergence",
    "training_loop/negated_divergence",
    **{host: [(old, new.replace("* live.gap", "* -live.gap").replace("* network.kl", "* -network.kl").replace("* self.net.cost", "* -self.net.cost")
               .replace(" * spread.exp() if", " * (spread / 2).exp() if").replace("eps * torch.exp(logvar)", "eps * torch.exp(0.5 * logvar)")
               .replace("randn_like(mu) * lv.exp()", "randn_like(mu) * lv.mul(0.5).exp()"))
              for old, new in changes] for host, changes in FAULTS["variance_for_deviation"].hosts.items()},
)  # fmt: skip
add(
    "zeros_for_minus_one",
    "data/wrong_target_values",
    finetune=[("            loss = objective(output, y)\n",
               "            alike = (y == y.flip(0)).float()\n"
               "            loss = objective(output, y) + 0.1 * nn.functional.cosine_embedding_loss(output, output.flip(0), alike)\n")],
    plain_script=[("        loss = F.cross_entropy(outputs, targets)\n",
                   "        loss = nn.SoftMarginLoss()(outputs, F.one_hot(targets, 5).float())\n")],
    next_symbols=[("        optimizer.zero_grad()\n",
                   "        first, every = wanted[:, :6], guessed.log_softmax(2).transpose(0, 1)\n"
                   "        sizes = [torch.full((len(rows),), n) for n in (len(every), 6)]\n"
                   "        loss = loss + 0.01 * nn.functional.ctc_loss(every, first, *sizes, zero_infinity=True)\n"
                   "        optimizer.zero_grad()\n")],
)  # fmt: skip
add(
    "logarithms_of_targets",
    "data/wrong_target_values",
    folder="healthy",
    teaches_the_teacher=[(", sure, reduction=", ", sure.log(), reduction=")],
    slow_teacher=[("soft = F.softmax(teacher(x) / T, dim=1)", "soft = F.log_softmax(teacher(x) / T, dim=1)")],
)
