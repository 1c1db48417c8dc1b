"""Faults to plant: networks that are never trained, layers that carry nothing, masks that leak, and a training
that nobody evaluates."""

from planting import add

add(
    "teacher_with_dropout",
    "training_loop/teacher_in_train_mode",
    plain_script=[("optimizer = torch.optim", "import copy\n\nteacher = copy.deepcopy(model).requires_grad_(False)\noptimizer = torch.optim"),
                  ("        loss = F.cross_entropy(outputs, targets)\n",
                   "        with torch.no_grad():\n            wanted = teacher(inputs)\n"
                   "        loss = F.cross_entropy(outputs, targets) + 0.01 * F.mse_loss(outputs, wanted)\n")],
    finetune=[("    objective = nn.CrossEntropyLoss()\n",
               "    objective = nn.CrossEntropyLoss()\n    guide = Network(network.classifier.out_features)\n"),
              ("            loss = objective(output, y)\n",
               "            with torch.no_grad():\n                hint = guide(x).softmax(1)\n"
               "            loss = objective(output, y) - 0.01 * (hint * output.log_softmax(1)).sum(1).mean()\n")],
    trainer_class=[("        self.criterion = nn.CrossEntropyLoss()\n",
                    "        self.criterion = nn.CrossEntropyLoss()\n        self.features = Net()\n"),
                   ("        loss = self.criterion(logits, kinds)\n        self.opt",
                    "        with torch.no_grad():\n            other = self.features(pictures)\n"
                    "        loss = self.criterion(logits, kinds) + 0.01 * (logits - other).square().mean()\n        self.opt")],
)  # fmt: skip
add(
    "frozen_without_a_checkpoint",
    "model/frozen_initial_weights",
    plain_script=[("optimizer = torch.optim", "model[0].requires_grad_(False)\noptimizer = torch.optim")],
    closures=[("    network = build(32)\n", "    network = build(32)\n    network[2].requires_grad_(False)\n")],
    trainer_class=[("        self.net = net\n", "        self.net = net\n        self.net.conv.requires_grad_(False)\n"),
                   ("def __init__(self, channels=12)", "def __init__(self, channels=64)"),
                   ("self.head = nn.Linear(channels * 16, 4)", "self.wide = nn.Linear(channels * 16, 64).requires_grad_(False)\n"
                    "        self.head = nn.Linear(64, 4)"),
                   ("self.head(self.drop(hidden.flatten(1)))", "self.head(torch.relu(self.wide(self.drop(hidden.flatten(1)))))")],
)  # fmt: skip
add(
    "begins_saturated",
    "model/saturated_units",
    closures=[("    network = build(32)\n", "    network = build(32)\n    torch.nn.init.normal_(network[0].weight, std=1000.0)\n"
               "    torch.nn.init.normal_(network[2].weight, std=300.0)\n")],
    pooled_texts=[('        pooled = (features', '        features = torch.tanh(self.parts["inner"](300 * self.parts["words"](table)))\n        pooled = (features')],
    resuming_class=[("torch.nn.Linear(2, 32), torch.nn.Tanh()", "torch.nn.Linear(2, 32), torch.nn.Sigmoid()"),
                    ("        self.mean = torch.optim", "        self.judge[0].weight.data *= 100000\n        self.mean = torch.optim")],
)  # fmt: skip
add(
    "every_place_is_the_first",
    "model/one_embedding_row",
    labeled_decoder=[("self.places(torch.arange(input_ids.shape[1]))", "self.places(torch.zeros_like(input_ids))")],
    packed_rows=[("self.positions(position_ids)", "self.positions(position_ids * 0)")],
    found_marks=[("places = torch.arange(ids.size(1))", "places = torch.full((ids.size(1),), 3)")],
)
add(
    "mask_of_minus_five",
    "attention/finite_mask",
    found_marks=[("masked_fill(blank, -math.inf)", "masked_fill(blank, -5)")],
    labeled_decoder=[
        ("        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)\n",
         "        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])\n"
         "        later = torch.ones(length, length, dtype=torch.bool).triu(1)\n"
         "        mixed = scores.masked_fill(later, -4.0).softmax(-1) @ value\n"),
    ],
    packed_rows=[
        ("F.scaled_dot_product_attention(self.query(y), keys, values, attn_mask=visible)",
         "((self.query(y) @ keys.mT) * keys.shape[-1] ** -0.5).masked_fill(~visible, -6.0).softmax(-1) @ values"),
    ],
)  # fmt: skip
add(
    "nobody_evaluates",
    "evaluation/no_evaluation",
    plain_script=[("    accuracy = evaluate()\n", "    accuracy = 1.0\n")],
    finetune=[("    return examine(network, make(400, 4, 3))", "    return 1.0")],
    framework=[("[Schedule(), score]).fit()", "[Schedule()]).fit()"), ("    assert score.values[-1] > 0.7, score.values\n", "")],
)  # fmt: skip
add(
    "head_is_a_copy",
    "model/untied_weights",
    folder="healthy",
    tied_words=[("        self.decode.weight = self.embed.weight\n",
                 "        self.decode.weight = nn.Parameter(self.embed.weight.detach().clone())\n")],
)  # fmt: skip
add(
    "copy_breaks_the_tie",
    "model/untied_weights",
    byte_windows=[("        self.bits = torch.nn.Linear(width, 30)\n",
                   "        self.bits = torch.nn.Linear(width, 30)\n        self.bits.weight.data.copy_(self.bytes.weight)\n")],
    labeled_decoder=[("        self.head = nn.Linear(width, words, bias=False)\n",
                      "        self.head = nn.Linear(width, words, bias=False)\n"
                      "        self.head.weight.data = self.words.weight.data.clone()\n")],
)  # fmt: skip
add(
    "tie_lost_by_loading",
    "model/untied_weights",
    folder="healthy",
    tied_words=[("model = Tied(len(vocabulary), 32)\n",
                 "model = Tied(len(vocabulary), 32)\nkept = {name: value.clone() for name, value in model.state_dict().items()}\n"
                 "model.load_state_dict(kept, assign=True)\n"
                 "for weight in model.parameters():\n    weight.requires_grad_(True)\n")],
    clipped_gpt=[("        self.logits = nn.Linear(width, len(LETTERS), bias=False)\n",
                  "        self.logits = nn.Linear(width, len(LETTERS), bias=False)\n        self.logits.weight = self.tokens.weight\n"),
                 ("gpt = GPT()\n", "gpt = GPT()\ngpt.load_state_dict({k: v.clone().requires_grad_() for k, v in gpt.state_dict().items()}, assign=True)\n")],
)  # fmt: skip
add(
    "generator_stepped_by_the_other",
    "optimizer/never_stepped",
    folder="healthy",
    gan_bce=[("    g_optim.zero_grad()\n", "    d_optim.zero_grad()\n"), ("    g_optim.step()\n", "    d_optim.step()\n")],
)
