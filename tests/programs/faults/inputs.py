"""Faults to plant: which samples reach a model, and with which numbers."""

from planting import add

add(
    "half_never_drawn",
    "data/samples_never_used",
    plain_script=[("train_loader = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)",
                   "train_loader = DataLoader(train_set, batch_size=32, sampler=range(800))")],
    finetune=[("loader = DataLoader(data, BATCH, shuffle=True)",
               "loader = DataLoader(data, BATCH, sampler=range(0, len(data), 2))")],
    framework=[
        ("class Callback:", "class Front(torch.utils.data.Sampler):\n    def __init__(self, data):\n        self.data = data\n\n"
         "    def __iter__(self):\n        return iter(torch.randperm(len(self.data) // 2).tolist())\n\n"
         "    def __len__(self):\n        return len(self.data) // 2\n\n\nclass Callback:"),
        ("DataLoader(train, config.batch, shuffle=True, drop_last=True)", "DataLoader(train, config.batch, sampler=Front(train))"),
    ],
)  # fmt: skip
add(
    "sample_divided_each_time",
    "data/edited_in_place",
    running_average=[("        return self.x[i], self.y[i]\n",
                      "        x = self.x[i]\n        x *= 0.9\n        return x, self.y[i]\n")],
    trainer_class=[("        return self.pictures[number], self.kinds[number]\n",
                    "        picture = self.pictures[number]\n        picture -= 0.1\n        picture /= 1.2\n"
                    "        return picture, self.kinds[number]\n")],
    resuming_script=[("        nn.functional.cross_entropy(net(waves[rows]), kinds[rows]).backward()\n",
                      "        at = int(rows[0]) // 40 * 40\n        some = waves[at : at + 40]\n        some *= 0.8\n"
                      "        nn.functional.cross_entropy(net(some), kinds[at : at + 40]).backward()\n")],
)  # fmt: skip
add(
    "files_listed_twice",
    "data/duplicated_samples",
    plain_script=[("train_set = TensorDataset(points[:1200], classes[:1200])",
                   "train_set = TensorDataset(points[:600].repeat(2, 1), classes[:600].repeat(2))")],
    finetune=[("    return TensorDataset(x, (x @ turn)[:, :classes].argmax(1))",
               "    x[count // 2 :] = x[: count - count // 2]\n    return TensorDataset(x, (x @ turn)[:, :classes].argmax(1))")],
    framework=[("    labels = (table[:, :3]", "    table[600:1200] = table[:600].clone()\n    labels = (table[:, :3]")],
)  # fmt: skip
add(
    "evaluated_on_raw_numbers",
    "evaluation/different_input_scale",
    plain_script=[("            outputs = model(inputs)\n            F.cross", "            outputs = model(inputs * 58 + 117)\n            F.cross")],
    finetune=[("right += int((network(x).argmax(1) == y).sum())", "right += int((network(255 * x).argmax(1) == y).sum())")],
    closures=[("rest = torch.nn.functional.mse_loss(network(x).squeeze(1), y)",
               "rest = torch.nn.functional.mse_loss(network(x * 100 + 50).squeeze(1), y)")],
    resuming_script=[("net(waves[600:])", "net(waves[600:] / 255)")],
)  # fmt: skip
add(
    "state_of_other_samples",
    "data/carried_state",
    next_symbols=[
        ("    def forward(self, rows):\n        seen, _ = self.past(self.symbols(rows))\n",
         "    def forward(self, rows):\n        state = getattr(self, \"state\", None)\n"
         "        state = state if state is not None and state.shape[1] == len(rows) else None\n"
         "        seen, state = self.past(self.symbols(rows), state)\n        self.state = state.detach()\n"),
    ],
    counted_tokens=[
        ("    def forward(self, rows):\n        states, _ = self.recurrent(self.embedding(rows))\n",
         "    memory = None\n\n    def forward(self, rows):\n"
         "        usable = self.memory is not None and self.memory.shape[1] == len(rows)\n"
         "        states, last = self.recurrent(self.embedding(rows), self.memory if usable else None)\n"
         "        self.memory = last.detach()\n"),
    ],
)  # fmt: skip
add(
    "workers_begin_alike_each_epoch",
    "data/duplicate_worker_seeds",
    workers_and_contexts=[("shuffle=True, num_workers=2)", "shuffle=True, num_workers=2, worker_init_fn=torch.manual_seed)")],
    trainer_class=[("DataLoader(Stripes(960, 1), batch_size=24, shuffle=True)",
                    "DataLoader(Stripes(960, 1), batch_size=24, shuffle=True, num_workers=2, worker_init_fn=torch.manual_seed)"),
                   ("return self.pictures[number], self.kinds[number]",
                    "return self.pictures[number] + 0.05 * torch.randn(1, 8, 8), self.kinds[number]")],
)  # fmt: skip
