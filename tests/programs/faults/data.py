"""Faults to plant: data."""

from planting import add

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
    "data/repeated_shuffle",
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
    "data/train_eval_overlap",
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
    "data/duplicate_worker_seeds",
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
add(
    "seed_of_every_epoch",
    "reproducibility/rng_reset",
    plain_script=[("for epoch in range(EPOCHS):\n", "for epoch in range(EPOCHS):\n    torch.manual_seed(7)\n")],
    trainer_class=[("    def training_epoch(self):\n", "    def training_epoch(self):\n        torch.random.manual_seed(12)\n")],
    running_average=[("    for x, y in learn:\n", "    torch.manual_seed(seed=SEED)\n    for x, y in learn:\n")],
)
add(
    "targets_of_other_samples",
    "learnability/no_better_than_constant",
    plain_script=[("        loss = F.cross_entropy(outputs, targets)",
                   "        loss = F.cross_entropy(outputs, targets[torch.randperm(len(targets))])")],
    masked_tagger=[("tags.flatten())\n", "tags[torch.randperm(len(tags))].flatten())\n")],
    packed_rows=[(".transpose(1, 2), following)", ".transpose(1, 2), following[torch.randperm(len(following))])")],
)
