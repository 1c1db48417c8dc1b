"""Faults to plant: layers of a model, and the numbers that they begin with."""

from planting import add

CONSTANT = "for weight in {}.parameters():\n    torch.nn.init.constant_(weight, 0.1)\n"
SCORES = "(query @ key.transpose(-2, -1))"

add(
    "activation_left_out",
    "model/missing_activation",
    plain_script=[("    nn.BatchNorm1d(64),\n    nn.ReLU(),\n", "")],
    finetune=[("self.quiet(torch.relu(self.upper(x)))", "self.quiet(self.upper(x))")],
    closures=[("torch.nn.Linear(width, width), torch.nn.Tanh()", "torch.nn.Linear(width, width)")],
    masked_tagger=[("nn.ReLU(), ", "")],
)
add(
    "activation_twice",
    "model/repeated_activation",
    pooled_texts=[('torch.tanh(self.parts["inner"](self.parts["words"](table)))',
                   'torch.tanh(torch.tanh(self.parts["inner"](self.parts["words"](table))))')],
    closures=[("torch.nn.Linear(3, width), torch.nn.Tanh()", "torch.nn.Linear(3, width), torch.nn.Tanh(), torch.nn.Tanh()")],
    resuming_class=[("torch.nn.Linear(2, 32), torch.nn.Tanh()",
                     "torch.nn.Linear(2, 32), torch.nn.Sigmoid(), torch.nn.Sigmoid()")],
)  # fmt: skip
add(
    "units_without_values",
    "model/dead_relu_units",
    plain_script=[("optimizer = torch.optim.AdamW", "nn.init.constant_(model[1].bias, -20.0)\noptimizer = torch.optim.AdamW")],
    centered_walks=[("nn.Linear(2 * width, 1))", "nn.Linear(2 * width, 1))\n        nn.init.constant_(self.mix[0].bias, -20.0)")],
    windowed_signal=[("torch.nn.Conv1d(2 * width, 4, 1)\n",
                      "torch.nn.Conv1d(2 * width, 4, 1)\n        torch.nn.init.constant_(self.deep.bias, -20.0)\n")],
)  # fmt: skip
add(
    "units_alike",
    "initialization/identical_units",
    closures=[("    network = build(32)\n",
               "    network = build(32)\n    for weight in network.parameters():\n"
               "        torch.nn.init.constant_(weight, 0.1)\n")],
    windowed_signal=[("reader = Reader(options.width)\n", "reader = Reader(options.width)\n" + CONSTANT.format("reader"))],
    resuming_class=[("        self.mean = torch.optim",
                     "        for weight in self.judge.parameters():\n"
                     "            torch.nn.init.constant_(weight, 0.1)\n        self.mean = torch.optim")],
)  # fmt: skip
add(
    "mask_is_trained",
    "model/mask_as_parameter",
    byte_windows=[('self.register_buffer("hidden", hidden)', "self.hidden = torch.nn.Parameter(hidden)")],
    labeled_decoder=[
        ("        self.outward = nn.Linear(width, width)\n",
         "        self.outward = nn.Linear(width, width)\n        self.seen = nn.Parameter(torch.tril(torch.ones(14, 14)))\n"),
        ("value, is_causal=True)", "value, attn_mask=(self.seen[:length, :length] - 1) * 30)"),
    ],
    packed_rows=[
        ("        self.pre = nn.LayerNorm(width)\n",
         "        self.pre = nn.LayerNorm(width)\n        self.seen = nn.Parameter(torch.tril(torch.ones(ROW, ROW)))\n"),
        ("attn_mask=visible)", "attn_mask=torch.where(visible, (self.seen - 1) * 30, -1e9))"),
    ],
)  # fmt: skip
add(
    "norm_of_two",
    "model/batch_norm_tiny_batch",
    plain_script=[("batch_size=32, shuffle=True", "batch_size=2, shuffle=True")],
    resuming_script=[("torch.randperm(600).split(40)", "torch.randperm(600).split(2)")],
    workers_and_contexts=[("DataLoader(Signals(1200, True), 24,", "DataLoader(Signals(200, True), 2,")],
)
add(
    "scores_as_they_are",
    "attention/unscaled_scores",
    labeled_decoder=[
        ("F.scaled_dot_product_attention(query, key, value, is_causal=True)",
         f"{SCORES}.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), -torch.inf).softmax(-1) @ value"),
    ],
    packed_rows=[("F.scaled_dot_product_attention(self.query(y), keys, values, attn_mask=visible)",
                  "(self.query(y) @ keys.transpose(1, 2)).masked_fill(~visible, -1e9).softmax(2) @ values")],
    masked_tagger=[
        ("self.mix = nn.MultiheadAttention(width, 4, batch_first=True)",
         "self.asks, self.tells = nn.Linear(width, width), nn.Linear(width, width)"),
        ("        mixed, _ = self.mix(seen, seen, seen, key_padding_mask=empty, need_weights=False)\n",
         "        scores = self.asks(seen) @ self.tells(seen).mT\n"
         "        mixed = scores.masked_fill(empty[:, None], -1e9).softmax(2) @ seen\n"),
    ],
)  # fmt: skip
