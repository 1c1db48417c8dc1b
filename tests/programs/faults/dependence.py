"""Faults to plant: outputs that depend on what must not matter. They show in trials alone."""

from planting import add


def activation(anchor, forward, backward):
    """Puts before a line a function that takes an activation's place."""
    text = (
        "class Activation(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n"
        f"        y = {forward}\n        ctx.save_for_backward(x, y)\n        return y\n\n"
        "    @staticmethod\n    def backward(ctx, g):\n"
        f"        x, y = ctx.saved_tensors\n        return {backward}\n\n\n"
    )
    return (anchor, text + anchor)


# The experiments that these checks do not need are left out.
TRIED = ("--deep", "--ignore", "learnability/*", "--ignore", "reproducibility/*")

add(
    "padding_attended",
    "attention/unmasked_padding",
    TRIED,
    masked_tagger=[("key_padding_mask=empty, ", "")],
    encoder_class=[(", src_key_padding_mask=mask == 0", "")],
    windowed_signal=[("self.symbols(symbols) * valid[..., None]", "self.symbols(symbols)")],
)
add(
    "padding_counted",
    "attention/unmasked_padding",
    TRIED,
    pooled_texts=[(".sum(1) / present.sum(1, keepdim=True)", ".mean(1)")],
    centered_walks=[("(x * weight).sum(1, True) / weight.sum(1, True)", "(x * weight).mean(1, True)")],
    found_marks=[("self.place(places)", "self.place(places.flip(0))")],
)
add(
    "padding_learnt",
    "data/padding_in_loss",
    TRIED,
    masked_tagger=[("tags.masked_fill(rows == NOTHING, -100)", "tags")],
    encoder_class=[("batch_first=True, padding_value=-1)", "batch_first=True, padding_value=0)")],
    windowed_signal=[("scores[valid], sums[valid]", "scores.flatten(0, 1), sums.flatten()")],
)
add(
    "normed_over_batch",
    "model/cross_sample_leak",
    TRIED,
    plain_script=[("    nn.BatchNorm1d(64),\n", "    Centered(),\n"),
                  ("model = nn.Sequential(",
                   "class Centered(nn.Module):\n    def forward(self, x):\n"
                   "        return x - 0.1 * x.mean(0)\n\n\nmodel = nn.Sequential(")],
    trainer_class=[("self.head(self.drop(hidden.flatten(1)))",
                    "self.head(self.drop(hidden.flatten(1) - hidden.flatten(1).amax(0)))")],
    framework=[("torch.relu(self.norm(self.first(features)))",
                "torch.relu(self.norm(self.first(features)).softmax(0))")],
)
add(
    "always_dropping",
    "evaluation/active_dropout",
    TRIED,
    trainer_class=[("self.head(self.drop(hidden.flatten(1)))",
                    "self.head(nn.functional.dropout(hidden.flatten(1), 0.1))")],
    framework=[("self.second(self.drop(hidden))", "self.second(nn.functional.dropout(hidden, 0.1))")],
    counted_tokens=[("self.output(self.dropout(states))", "self.output(F.dropout(states, 0.05))")],
)
add(
    "sees_the_future",
    "attention/causal_mask_leak",
    TRIED,
    next_symbols=[("nn.GRU(width, width, batch_first=True)",
                   "nn.GRU(width, width // 2, batch_first=True, bidirectional=True)")],
    labeled_decoder=[(", is_causal=True", "")],
    byte_windows=[(", mask=self.hidden", "")],
)
add(
    "documents_see_each_other",
    "attention/cross_document_attention",
    TRIED,
    packed_rows=[("visible = ramp.unsqueeze(2) == ramp.unsqueeze(1)",
                  "visible = ramp.unsqueeze(2) - ramp.unsqueeze(1) <= 1"),
                 ("(position_ids.unsqueeze(2) >= position_ids.unsqueeze(1))",
                  "torch.ones(ROW, ROW, dtype=torch.bool).tril()")],
    numbered_documents=[("apart = bag_ids[:, None, :] != bag_ids[:, :, None]",
                         "apart = (bag_ids[:, None, :] - bag_ids[:, :, None]).abs() > 1")],
    joined_queries=[("line[begin:end], line[begin:end]",
                     "line[begin:end], line[max(begin - 1, 0):end]")],
)
add(
    "documents_forgotten",
    "attention/cross_document_attention",
    TRIED,
    packed_rows=[("visible = visible & (position_ids.unsqueeze(2) >= position_ids.unsqueeze(1))",
                  "visible = torch.ones_like(visible).tril()")],
    numbered_documents=[("self.lower(start, src_mask=apart)", "self.lower(start)")],
    joined_queries=[("line[begin:end], line[begin:end]", "line[begin:end], line[:end]")],
)
add(
    "shifted_twice",
    "data/shifted_targets",
    next_symbols=[("guessed.reshape(-1, SYMBOLS), wanted.reshape(-1)",
                   "guessed[:, :-1].reshape(-1, SYMBOLS), wanted[:, 1:].reshape(-1)")],
    labeled_decoder=[("decoder(ids, labels=ids)", "decoder(ids[:, :-1], labels=ids[:, 1:])")],
    byte_windows=[("logits.log_softmax(-1).transpose(1, 2), windows[:, 1:]",
                   "logits.log_softmax(-1).transpose(1, 2)[..., :-1], windows[:, 2:]")],
)
add(
    "not_shifted",
    "data/shifted_targets",
    TRIED,
    next_symbols=[("rows[:, :-1], rows[:, 1:]", "rows[:, :-1], rows[:, :-1]")],
    labeled_decoder=[("here, ahead = logits[:, :-1], labels[:, 1:]", "here, ahead = logits, labels")],
    byte_windows=[("windows[:, 1:])", "windows[:, :20])")],
)
add(
    "miscoded_backward",
    "gradients/failed_gradcheck",
    TRIED,
    running_average=[activation("class Regressor(", "x * x.sigmoid()", "g * x.sigmoid()"),
                     ("torch.nn.functional.silu(self.enter(x))", "Activation.apply(self.enter(x))")],
    framework=[activation("class Body(", "x.exp().log1p()", "g * y"),
               ("torch.relu(self.norm(self.first(features)))",
                "Activation.apply(self.norm(self.first(features)))")],
    finetune=[activation("class Network(", "x.tanh()", "g * (1 - y)"),
              ("torch.relu(self.lower(x))", "Activation.apply(self.lower(x))")],
)
add(
    "told_labels",
    "data/target_leakage",
    TRIED,
    plain_script=[("        optimizer.zero_grad()\n        outputs = model(inputs)\n",
                   "        optimizer.zero_grad()\n        inputs[:, 3] = targets.float()\n"
                   "        outputs = model(inputs)\n")],
    trainer_class=[("        logits = self.net(pictures)\n        loss",
                    "        logits = self.net(pictures + kinds.view(-1, 1, 1, 1))\n        loss")],
    running_average=[("        output = live(x)\n        loss",
                      "        output = live(torch.cat([x[:, :3], y[:, None]], 1))\n        loss")],
)
add(
    "labels_drawn_apart",
    "data/inconsistent_targets",
    TRIED,
    plain_script=[("    for inputs, targets in train_loader:\n",
                   "    labels, some = classes[:1200].clone(), torch.randperm(1200)[:100]\n"
                   "    labels[some] = labels[some.roll(1)]\n"
                   "    train_set.tensors = (points[:1200], labels)\n"
                   "    for inputs, targets in train_loader:\n")],
    trainer_class=[("self.pictures[number], self.kinds[number]",
                    "self.pictures[number], self.kinds[max(number - int(torch.rand(()) < 0.2), 0)]")],
    running_average=[("return self.x[i], self.y[i]",
                      "return self.x[i], self.y[i] + 0.01 * torch.randn(())")],
)
add(
    "targets_of_others",
    "data/input_target_mismatch",
    TRIED,
    plain_script=[("outputs = model(inputs)\n        loss",
                   "outputs = model(inputs[torch.arange(len(inputs)) - 1])\n        loss")],
    trainer_class=[("        logits = self.net(pictures)\n        loss",
                    "        logits = self.net(pictures.flip(0))\n        loss")],
    framework=[("loss = self.loss(scores, labels)", "loss = self.loss(scores, labels.sort().values)")],
    running_average=[("loss = mse(output[:, 0], y)", "loss = mse(output[:, 0], y.roll(1))")],
    counted_tokens=[("            logits = tagger(rows)\n",
                     "            logits = tagger(rows).transpose(0, 1).reshape(*rows.shape, -1)\n")],
)
add(
    "summed_beside_averaged",
    "training_loop/mixed_reductions",
    TRIED,
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.cross_entropy(outputs, targets) + 0.001 * outputs.square().sum()")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = self.criterion(logits, kinds) + 2e-3 * torch.logsumexp(logits, 1).pow(2).sum()")],
    running_average=[("loss = mse(output[:, 0], y)",
                      "loss = mse(output[:, 0], y) + 0.01 * (output[:, 0] - y).abs().sum()")],
    finetune=[("loss = objective(output, y)",
               "loss = objective(output, y) + 0.001 * output.abs().sum()")],
)
add(
    "mixed_in_the_loop",
    "data/order_dependence",
    TRIED,
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = self.criterion(logits + 0.1 * logits.flip(0), kinds)")],
    running_average=[("loss = mse(output[:, 0], y)",
                      "loss = mse(output[:, 0] + 0.1 * output[:, 0].roll(1), y)")],
    finetune=[("loss = objective(output, y)",
               "loss = objective(output - 0.1 * output.mean(0) * torch.linspace(0, 1, len(y))[:, None], y)")],
)
