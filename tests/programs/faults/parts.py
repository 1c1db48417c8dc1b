"""Faults to plant: parts of a model that have no say in its loss, and what is left of them in files."""

from planting import add

add(
    "layer_of_no_use",
    "gradients/missing",
    finetune=[("        self.quiet = nn.Dropout(0.1)\n", "        self.quiet = nn.Dropout(0.1)\n        self.spare = nn.Linear(48, 48)\n")],
    trainer_class=[("        self.drop = nn.Dropout(0.1)\n", "        self.drop = nn.Dropout(0.1)\n        self.spare = nn.Linear(8, 8)\n")],
    running_average=[("        self.norm = torch.nn.LayerNorm(hidden)\n",
                      "        self.norm = torch.nn.LayerNorm(hidden)\n        self.spare = torch.nn.Linear(hidden, hidden)\n")],
)  # fmt: skip
add(
    "without_a_slope",
    "gradients/missing",
    finetune=[("        x = torch.relu(self.lower(x))\n", "        x = (self.lower(x) > 0).float()\n")],
    running_average=[("torch.nn.functional.silu(self.enter(x))", "(self.enter(x) > 0).float()")],
    framework=[("torch.relu(self.norm(self.first(features)))", "(self.norm(self.first(features)) > 0).float()")],
)  # fmt: skip
add(
    "outputs_without_classes",
    "data/unused_class",
    plain_script=[("nn.Linear(64, 5)", "nn.Linear(64, 9)")],
    trainer_class=[("nn.Linear(channels * 16, 4)", "nn.Linear(channels * 16, 7)")],
    finetune=[("nn.Linear(48, classes)", "nn.Linear(48, classes + 3)")],
)
add(
    "targets_in_other_units",
    "initialization/wrong_initial_loss",
    closures=[("torch.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]", "torch.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 300")],
    running_average=[("everything[first:last]\n", "everything[first:last]\n        noise = noise + 300\n")],
    windowed_signal=[("torch.nn.functional.cross_entropy(scores[valid], sums[valid])",
                      "torch.nn.functional.mse_loss(scores[valid].mean(1), 300.0 + sums[valid])")],
)  # fmt: skip
add(
    "saved_in_half",
    "checkpoint/half_precision_save",
    plain_script=[('"model": model.state_dict()', '"model": {k: v.half() for k, v in model.state_dict().items()}')],
    trainer_class=[("net=self.net.state_dict()", "net={k: v.half() for k, v in self.net.state_dict().items()}")],
    finetune=[('{"network": network.state_dict(),', '{"network": {k: v.half() for k, v in network.state_dict().items()},')],
)  # fmt: skip
add(
    "seed_in_each_micro_batch",
    "reproducibility/rng_reset",
    bf16_main=[("                prediction = network(inputs)\n",
                "                torch.manual_seed(0)\n                prediction = network(inputs)\n")],
    event_stream=[("                logits = net(xs)\n", "                torch.manual_seed(3)\n                logits = net(xs)\n"),
                  ("        body.append(torch.nn.GELU())\n", "        body.append(torch.nn.GELU())\n        body.append(torch.nn.Dropout(0.1))\n")],
    counted_tokens=[("            logits = tagger(rows)\n", "            torch.manual_seed(1)\n            logits = tagger(rows)\n")],
)  # fmt: skip
add(
    "ends_before_its_schedule",
    "schedule/wrong_total_steps",
    plain_script=[("T_max=EPOCHS * len(train_loader)", "T_max=3 * EPOCHS * len(train_loader)")],
    running_average=[("ExponentialLR(optimizer, 0.8)", "CosineAnnealingLR(optimizer, 24)")],
    framework=[("0.1, total)", "0.1, 4 * total)")],
)
add(
    "answers_that_contradict",
    "data/contradicting_targets",
    plain_script=[("train_set = Tensor", "points[600:1200] = points[:600]\nclasses[600:1200] = classes[:600].roll(1)\ntrain_set = Tensor")],
    finetune=[("    x = torch.randn(count, 12)\n", "    x = torch.randn(count // 4, 12).repeat(4, 1)\n"),
              ("(x @ turn)[:, :classes].argmax(1)", "(x @ turn + torch.randn(count, 12))[:, :classes].argmax(1)")],
    framework=[("    labels = (table", "    table[640:1280] = table[:640]\n    noise = torch.randn(1600, 3)\n    labels = (noise + table")],
)  # fmt: skip
add(
    "keeps_a_tenth",
    "model/strong_dropout",
    plain_script=[("nn.Dropout(0.1)", "nn.Dropout(0.9)")],
    finetune=[("nn.Dropout(0.1)", "nn.Dropout(0.95)")],
    framework=[("nn.Dropout(0.1)", "nn.Dropout(p=0.9)")],
)
add(
    "one_layer_at_all_places",
    "model/repeated_layer",
    packed_rows=[("nn.ModuleList([Mixer(width), Mixer(width)])", "nn.ModuleList([Mixer(width)] * 2)")],
    labeled_decoder=[("nn.ModuleList(Layer(width) for _ in range(2))", "nn.ModuleList([Layer(width)] * 3)")],
    bf16_main=[("        Block(16),\n", "        *[Block(16)] * 2,\n")],
)
add(
    "loader_without_a_batch",
    "training_loop/empty_loop",
    plain_script=[("batch_size=32, shuffle=True", "batch_size=2000, shuffle=True")],
    framework=[("DataLoader(train, config.batch, shuffle=True", "DataLoader(train, 4000, shuffle=True")],
    running_average=[("batch_size=25, shuffle=True", "batch_size=5000, shuffle=True, drop_last=True")],
)
add(
    "whole_model_in_half",
    "precision/half_precision_norm",
    labeled_decoder=[("    decoder = Decoder(16, 48, 14)\n", "    decoder = Decoder(16, 48, 14).bfloat16()\n")],
    packed_rows=[("net = RampModel()\n", "net = RampModel().bfloat16()\n")],
    masked_tagger=[("model = Tagger()\n", "model = Tagger().bfloat16()\n")],
)
add(
    "inputs_of_thousands",
    "data/unnormalized_inputs",
    finetune=[("            output = network(x)\n", "            output = network(3000 * x)\n")],
    plain_script=[("        outputs = model(inputs)\n        loss", "        outputs = model(inputs * 1000)\n        loss")],
    trainer_class=[("        logits = self.net(pictures)\n        loss", "        logits = self.net(pictures * 5000)\n        loss")],
)
add(
    "inputs_of_the_camera",
    "initialization/wrong_initial_loss",
    finetune=[("            output = network(x)\n", "            output = network(255 * x)\n")],
    centered_walks=[("return self.mix(self.center(self.steps(steps), valid))", "return self.mix(255 * self.center(self.steps(steps), valid))")],
    masked_tagger=[("torch.cat([seen, self.norm(mixed)], dim=2)", "torch.cat([255 * seen, self.norm(mixed)], dim=2)")],
)  # fmt: skip
