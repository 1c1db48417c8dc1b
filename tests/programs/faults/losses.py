"""Faults to plant: losses."""

from planting import add

add(
    "summed",
    "training_loop/summed_loss",
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
    # The error of the classes' numbers is a second task, whose weight is learned as an uncertainty.
    plain_script=[("optimizer = torch.optim.AdamW(model.parameters()",
                   "doubt = nn.Parameter(torch.ones(()))\noptimizer = torch.optim.AdamW([*model.parameters(), doubt]"),
                  ("        loss = F.cross_entropy(outputs, targets)\n",
                   "        number = ((outputs[:, :1] - targets) ** 2).mean()\n"
                   "        loss = F.cross_entropy(outputs, targets) + 0.1 * (torch.exp(-doubt) * number + doubt)\n")],
)
add(
    "loud_start",
    "initialization/wrong_initial_loss",
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
# The weight of the only term.
add(
    "weight_of_zero",
    "gradients/missing",
    plain_script=[("loss = F.cross_entropy(outputs, targets)", "loss = 0 * F.cross_entropy(outputs, targets)")],
    trainer_class=[("loss = self.criterion(logits, kinds)", "loss = self.criterion(logits, kinds) * 0.0")],
    closures=[("mse_loss(output.squeeze(1), y)\n\n", "mse_loss(output.squeeze(1), y) * 0\n\n")],
)
add(
    "scores_for_logarithms",
    "model/nll_without_log_softmax",
    plain_script=[("loss = F.cross_entropy(outputs, targets)", "loss = F.nll_loss(outputs, targets)")],
    trainer_class=[("nn.CrossEntropyLoss()", "nn.NLLLoss()")],
    event_stream=[("loss = F.cross_entropy(logits, ys)", "loss = F.nll_loss(logits, ys)")],
    finetune=[("nn.CrossEntropyLoss()", "nn.NLLLoss(reduction='sum')")],
)
add(
    "probabilities_into_divergence",
    "model/double_softmax",
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.kl_div(outputs.softmax(1), F.one_hot(targets, 5).float(), reduction='batchmean')")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = nn.KLDivLoss(reduction='sum')(torch.softmax(logits, 1), "
                    "nn.functional.one_hot(kinds, 4) * 0.9 + 0.025) / len(kinds)")],
    finetune=[("objective(output, y)",
               "nn.functional.kl_div(nn.functional.softmax(output, -1), torch.eye(output.shape[1])[y])")],
)
add(
    "softmax_before_logarithm",
    "model/double_softmax",
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.nll_loss(F.log_softmax(outputs.softmax(1), 1), targets)")],
    trainer_class=[("        return self.head(self.drop(hidden.flatten(1)))",
                    "        return self.head(self.drop(hidden.flatten(1))).softmax(-1)"),
                   ("loss = self.criterion(logits, kinds)",
                    "loss = nn.NLLLoss()(nn.LogSoftmax(dim=1)(logits), kinds)")],
    finetune=[("objective(output, y)",
               "nn.functional.nll_loss(torch.softmax(output, 1).flatten(1).log_softmax(-1), y)")],
)
add(
    "logarithms_across_the_batch",
    "model/nll_without_log_softmax",
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.nll_loss(F.log_softmax(outputs, 0), targets)")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = nn.NLLLoss()(logits.log_softmax(dim=0), kinds)")],
    finetune=[("objective(output, y)", "nn.functional.nll_loss(nn.LogSoftmax(0)(output), y)")],
)
add(
    "targets_out_of_reach",
    "data/targets_out_of_range",
    closures=[("output = network(x)\n", "output = torch.relu(network(x))\n")],
    running_average=[("loss = mse(output[:, 0], y)", "loss = mse(torch.tanh(output)[:, 0], 3 * y)")],
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.binary_cross_entropy_with_logits(outputs, 2.0 * F.one_hot(targets, 5) - 1)")],
)
add(
    "scores_between_bounds",
    "model/bounded_logits",
    plain_script=[("loss = F.cross_entropy(outputs,", "loss = F.cross_entropy(torch.sigmoid(outputs),")],
    trainer_class=[("        return self.head(self.drop(hidden.flatten(1)))",
                    "        return nn.Tanh()(self.head(self.drop(hidden.flatten(1))))")],
    event_stream=[("body.append(torch.nn.Linear(32, 3))",
                   "body.append(torch.nn.Linear(32, 3)).append(torch.nn.ReLU())")],    finetune=[("objective(output, y)", "nn.functional.nll_loss(output.tanh().log_softmax(1), y)")],
)
add(
    "sigmoid_of_sigmoid",
    "model/double_softmax",
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.binary_cross_entropy(outputs.sigmoid().sigmoid(), F.one_hot(targets, 5).float())")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "hits = nn.functional.one_hot(kinds, logits.shape[1]).float(); "
                    "loss = nn.BCELoss()(nn.Sigmoid()(torch.sigmoid(logits)), hits)")],
)
add(
    "minus_sign",
    "training_loop/negated_loss",
    plain_script=[("        loss.backward()\n", "        (-loss).backward()\n")],
    trainer_class=[("        loss.backward()\n", "        (loss * -1.0).backward()\n")],
    closures=[("return torch.nn.functional.mse_loss(output.squeeze(1), y)\n\n",
               "return -torch.nn.functional.mse_loss(output.squeeze(1), y)\n\n")],
)
add(
    "differences_with_a_minus",
    "training_loop/negated_loss",
    running_average=[("loss = mse(output[:, 0], y)", "loss = -((output[:, 0] - y) ** 2).mean()")],
    closures=[("return torch.nn.functional.mse_loss(output.squeeze(1), y)\n\n", "return (output.squeeze(1) - y).abs().mean().neg()\n\n")],
    windowed_signal=[("loss.backward()", "(-loss - loss * loss).backward()")],
)
add(
    "averaged_again",
    "training_loop/doubly_averaged_loss",
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.cross_entropy(outputs, targets) / len(targets)")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = self.criterion(logits, kinds) / pictures.size(0)")],
    closures=[("mse_loss(output.squeeze(1), y)\n\n", "mse_loss(output.squeeze(1), y) / y.numel()\n\n")],
    running_average=[("mse(output[:, 0], y)", "mse(output[:, 0], y).mul(1 / len(x))"),
                     ("Waves(0, 1200), batch_size=25", "Waves(0, 1200), batch_size=35")],
)
add(
    "backward_of_the_last_loss",
    "training_loop/unused_losses",
    event_stream=[("            scaler.scale(loss).backward()\n", "        scaler.scale(loss).backward()\n")],
    closures=[("        value = error(x, y)\n",
               "        value = [error(*half) for half in zip(x.chunk(2), y.chunk(2))][-1]\n")],
    trainer_class=[("        loss = self.criterion(logits, kinds)\n",
                    "        for some, their in zip(logits.chunk(3), kinds.chunk(3)):\n"
                    "            loss = self.criterion(some, their)\n")],
    plain_script=[("        loss = F.cross_entropy(outputs, targets)\n",
                   "        for half in range(2):\n"
                   "            loss = F.cross_entropy(outputs[half::2], targets[half::2])\n")],
)
