"""Faults to plant: which class, which row, which noise and which number is meant."""

from planting import add

PLAIN = "        loss = F.cross_entropy(outputs, targets)\n"
TUNED = "            loss = objective(output, y)\n"
WAVES = "        nn.functional.cross_entropy(net(waves[rows]), kinds[rows]).backward()\n"

add(
    "classes_in_between",
    "data/interpolated_classes",
    plain_script=[(PLAIN, PLAIN +
                   "        grid = (inputs.view(-1, 4, 5) > 0).long() * 4\n"
                   "        small = F.interpolate(grid[:, None].float(), size=(3, 3), mode='area').round().long()[:, 0]\n"
                   "        loss = loss + 0.01 * F.cross_entropy(outputs[:, :, None, None].expand(-1, 5, 3, 3), small)\n")],
    trainer_class=[("        loss = self.criterion(logits, kinds)\n",
                    "        wide = (pictures > 0) * 3.0\n"
                    "        small = nn.functional.interpolate(wide, scale_factor=0.7, mode='bilinear').squeeze(1).long()\n"
                    "        there = self.net.conv(pictures)[:, :4, : small.shape[1], : small.shape[2]]\n"
                    "        loss = self.criterion(logits, kinds) + 0.01 * self.criterion(there, small)\n")],
    resuming_script=[(WAVES,
                      "        levels = (waves[rows] > 0).double() * 2\n"
                      "        coarse = nn.functional.interpolate(levels[:, None], 17, mode='linear')[:, 0].to(torch.int64)\n"
                      "        each = net(waves[rows])\n"
                      "        loss = nn.functional.nll_loss(each.log_softmax(1)[:, :, None].expand(-1, 3, 17), coarse)\n"
                      "        (nn.functional.cross_entropy(each, kinds[rows]) + 0.01 * loss).backward()\n")],
)  # fmt: skip
add(
    "teacher_with_sorted_names",
    "training_loop/misordered_teacher",
    plain_script=[(PLAIN,
                   "        taught = (inputs @ directions)[:, [4, 2, 3, 0, 1]].softmax(1)\n"
                   "        loss = F.cross_entropy(outputs, targets) + 0.1 * F.kl_div(outputs.log_softmax(1), taught, reduction='batchmean')\n")],
    finetune=[(TUNED,
               "            loss = objective(output, y)\n"
               "            if output.shape[1] == 6:\n"
               "                loss = loss + 0.01 * nn.functional.mse_loss(output, x[:, :6].roll(1, 1))\n")],
    resuming_script=[(WAVES,
                      "        given = net(waves[rows])\n"
                      "        kept = 0.1 + 0.7 * nn.functional.one_hot((kinds[rows] + 1) % 3, 3)\n"
                      "        loss = nn.functional.cross_entropy(given, kinds[rows]) + 0.05 * nn.functional.cross_entropy(given, kept)\n"
                      "        loss.backward()\n")],
)  # fmt: skip
add(
    "labels_of_the_test_folder",
    "evaluation/different_label_order",
    plain_script=[("TensorDataset(points[1200:], classes[1200:])",
                   "TensorDataset(points[1200:], torch.tensor([3, 1, 4, 0, 2])[classes[1200:]])")],
    finetune=[("    return examine(network, make(400, 4, 3))",
               "    other = make(400, 4, 3)\n    return examine(network, TensorDataset(other.tensors[0], 3 - other.tensors[1]))")],
    trainer_class=[("        self.criterion = nn.CrossEntropyLoss()\n",
                    "        self.check.dataset.kinds = torch.tensor([1, 0, 2, 3])[self.check.dataset.kinds]\n"
                    "        self.criterion = nn.CrossEntropyLoss()\n")],
)  # fmt: skip
add(
    "views_in_the_other_order",
    "training_loop/wrong_contrastive_pairs",
    plain_script=[(PLAIN, PLAIN +
                   "        both = torch.stack([inputs, inputs + 0.1 * torch.randn_like(inputs)], 1).flatten(0, 1)\n"
                   "        seen = F.normalize(model(both), dim=1)\n"
                   "        scores = (seen @ seen.t() / 0.5).fill_diagonal_(-1e9)\n"
                   "        loss = loss + 0.1 * F.cross_entropy(scores, torch.arange(64).roll(32))\n")],
    finetune=[(TUNED,
               "            views = network(torch.cat([x, x + 0.1 * torch.randn_like(x)]))\n"
               "            alike = nn.functional.cosine_similarity(views[:, None], views[None], dim=2)\n"
               "            alike = alike.masked_fill(torch.eye(len(views)).bool(), -9e8)\n"
               "            loss = objective(output, y) + 0.1 * objective(alike, torch.arange(len(views)) ^ 1)\n")],
    resuming_script=[(WAVES,
                      "        pairs = waves[rows].repeat_interleave(2, 0)\n"
                      "        z = net(pairs + 0.05 * torch.randn_like(pairs))\n"
                      "        s = z.mm(z.mT) - 1e6 * torch.eye(80)\n"
                      "        loss = nn.functional.cross_entropy(s, torch.cat([torch.arange(40, 80), torch.arange(40)]))\n"
                      "        (nn.functional.cross_entropy(net(waves[rows]), kinds[rows]) + 0.01 * loss).backward()\n")],
)  # fmt: skip
add(
    "ids_without_offset",
    "model/overlapping_ids",
    finetune=[("        self.lower = nn.Linear(12, 48)\n", "        self.lower = nn.Linear(12, 48)\n        self.table = nn.Embedding(70, 48)\n"),
              ("        x = torch.relu(self.lower(x))\n",
               "        user, item = (x[:, 0].abs() * 1000).long() % 40, (x[:, 1].abs() * 1000).long() % 30\n"
               "        x = torch.relu(self.lower(x)) + self.table(torch.stack([user, item], 1)).sum(1)\n")],
    trainer_class=[("        self.head = nn.Linear(channels * 16, 4)\n",
                    "        self.head = nn.Linear(channels * 16, 4)\n        self.codes = nn.Embedding(20, 4)\n"),
                   ("        return self.head(self.drop(hidden.flatten(1)))",
                    "        one = (pictures.abs().sum((1, 2, 3)) * 1000).long() % 12\n"
                    "        two = (pictures[:, 0, 0, 0].abs() * 1000).long() % 8\n"
                    "        return self.head(self.drop(hidden.flatten(1))) + self.codes(one) + self.codes(two)")],
    running_average=[("        self.leave = torch.nn.Linear(hidden, 1)\n",
                      "        self.leave = torch.nn.Linear(hidden, 1)\n        self.codes = torch.nn.Embedding(45, hidden)\n"),
                     ("        x = torch.nn.functional.silu(self.enter(x))\n",
                      "        fields = ((x[:, :3] + 1) * torch.tensor([9.99, 7.49, 4.99])).long()\n"
                      "        x = torch.nn.functional.silu(self.enter(x)) + self.codes(fields).mean(1)\n")],
)  # fmt: skip
add(
    "noise_of_another_draw",
    "training_loop/unrelated_noise",
    plain_script=[("optimizer = torch.optim.AdamW(model.parameters(),",
                   "denoiser = nn.Linear(20, 20)\noptimizer = torch.optim.AdamW([*model.parameters(), *denoiser.parameters()],"),
                  (PLAIN, PLAIN +
                   "        noisy = 0.8 * inputs + 0.6 * torch.randn_like(inputs)\n"
                   "        loss = loss + 0.1 * F.mse_loss(denoiser(noisy), torch.randn_like(inputs))\n")],
    finetune=[("        self.lower = nn.Linear(12, 48)\n", "        self.lower = nn.Linear(12, 48)\n        self.clean = nn.Linear(12, 12)\n"),
              (TUNED,
               "            mixed = torch.lerp(x, torch.randn(x.shape), 0.5)\n"
               "            loss = objective(output, y) + 0.1 * nn.functional.smooth_l1_loss(network.clean(mixed), torch.randn(x.shape))\n")],
    running_average=[("        self.leave = torch.nn.Linear(hidden, 1)\n",
                      "        self.leave = torch.nn.Linear(hidden, 1)\n        self.back = torch.nn.Linear(4, 4)\n"),
                     ("        loss = mse(output[:, 0], y)\n",
                      "        loss = mse(output[:, 0], y) + 0.1 * mse(live.back(x + torch.randn_like(x)), torch.randn_like(x))\n")],
)  # fmt: skip
add(
    "points_that_stay",
    "data/mirrored_without_target",
    plain_script=[("train_set = TensorDataset(points[:1200], classes[:1200])\n",
                   "class Grids(torch.utils.data.Dataset):\n"
                   "    def __len__(self):\n        return 1200\n\n"
                   "    def __getitem__(self, i):\n"
                   "        grid = points[i].view(4, 5)\n"
                   "        return (grid.flip(0) if torch.rand(()) < 0.5 else grid), directions[i % 20, :2]\n\n\n"
                   "train_set = Grids()\n"),
                  ("    nn.Linear(20, 64),\n", "    nn.Flatten(),\n    nn.Linear(20, 64),\n"),
                  (PLAIN, "        loss = F.mse_loss(outputs[:, :2], targets)\n")],
    trainer_class=[("        return self.pictures[number], self.kinds[number]",
                    "        picture = self.pictures[number]\n"
                    "        if torch.rand(()) < 0.5:\n"
                    "            picture = torch.flip(picture, dims=[2]) * 1.1\n"
                    "        return picture, picture.new_tensor([number % 7, number % 5])"),
                   ("nn.Linear(channels * 16, 4)", "nn.Linear(channels * 16, 2)"),
                   ("nn.CrossEntropyLoss()", "nn.SmoothL1Loss()"),
                   ("(logits.argmax(1) == kinds).sum().item()", "(logits - kinds).abs().mean().item()")],
    running_average=[("        return self.x[i], self.y[i]",
                      "        image, place = self.x[i].view(1, 2, 2), torch.stack([self.y[i], self.x[i, 0]])\n"
                      "        return (image.fliplr() if torch.rand(()) < 0.5 else image), place"),
                     ("        x = torch.nn.functional.silu(self.enter(x))\n",
                      "        x = torch.nn.functional.silu(self.enter(x.flatten(1)))\n"),
                     ("        loss = mse(output[:, 0], y)\n", "        loss = mse(output[:, 0], y[:, 0])\n"),
                     ("mse_loss(output[:, 0], y, reduction", "mse_loss(output[:, 0], y[:, 0], reduction")],
)  # fmt: skip
add(
    "scores_at_a_half",
    "evaluation/threshold_on_scores",
    centered_walks=[("comparer(walks.steps, walks.valid) > 0", "comparer(walks.steps, walks.valid) > 0.5")],
    pooled_texts=[("        return ((network(table, present) > 0).float() == labels)",
                   "        guess = network(table, present)\n        return (guess.round().clamp(0, 1) == labels)")],
    resuming_class=[("    agree = ((course.mean(course.x[800:]) > 0) == ",
                     "    told = course.judge(course.x[800:]).squeeze(1)\n    agree = (told.ge(0.5)[:, None] == ")],
)  # fmt: skip
add(
    "noise_by_its_variance",
    "training_loop/unscaled_noise",
    folder="healthy",
    noise_predictor=[("(1 - a).sqrt() * noise, t", "(1 - a) * noise, t")],
    shapes_out_of_noise=[("torch.sqrt(1 - share) * noise", "(1 - share) * noise")],
)
add(
    "data_by_their_variance",
    "training_loop/unscaled_noise",
    folder="healthy",
    noise_predictor=[("model(a.sqrt() * x0", "model(a * x0"), ("assert distance < 0.6 * loose, (distance, loose)\n", "")],
    shapes_out_of_noise=[("torch.sqrt(share) * picture", "share * picture"), ("assert sum(errors[-20:]) < 0.5 * sum(errors[:20]), errors[-20:]\n", "")],
)
add(
    "another_level_told",
    "training_loop/wrong_time_step",
    folder="healthy",
    shapes_out_of_noise=[("cleaner(noisy, level, kind)", "cleaner(noisy, torch.randint(0, LEVELS, kind.shape), kind)"),
                         ("assert sum(errors[-20:]) < 0.5 * sum(errors[:20]), errors[-20:]\n", "")],
)  # fmt: skip
