"""Faults to plant: evaluations and modes."""

from planting import add

add(
    "evaluated_in_training_mode",
    "evaluation/in_train_mode",
    plain_script=[("    model.eval()\n", "")],
    trainer_class=[("        self.net.eval()\n", "")],
    framework=[("        self.model.eval()\n", "")],
    counted_tokens=[("    tagger.eval()\n", "")],
    finetune=[("    network.eval()\n", "")],
)
add(
    "evaluated_as_it_trains",
    "evaluation/in_train_mode",
    plain_script=[("    model.eval()\n", ""), ("with torch.no_grad():", "with torch.enable_grad():")],
    trainer_class=[("        self.net.eval()\n", ""), ("    @torch.no_grad()\n", "")],
    framework=[("        self.model.eval()\n", ""), ("with torch.inference_mode():", "with torch.set_grad_enabled(True):")],
    counted_tokens=[("    tagger.eval()\n", ""), ("    with torch.no_grad():\n        for", "    if True:\n        for")],
)
add(
    "evaluation_draws_numbers",
    "evaluation/draws_random_numbers",
    plain_script=[("        for inputs, targets in test_loader:\n            outputs = model(inputs)\n",
                   "        for inputs, targets in test_loader:\n            outputs = model(inputs + 0.01 * torch.randn_like(inputs))\n")],
    trainer_class=[("            logits = self.net(pictures)\n            hits",
                    "            logits = self.net(pictures + 0.01 * torch.rand(pictures.shape))\n            hits")],
    masked_tagger=[("        said = model(rows, rows == NOTHING).argmax(2)\n",
                    "        said = model(rows, rows == NOTHING)\n        some = torch.randperm(len(rows))[:3]\n"
                    "        said = said.argmax(2)\n        said[some] = model(rows[some], rows[some] == NOTHING).argmax(2)\n")],
)  # fmt: skip
add(
    "evaluated_with_graph",
    "evaluation/without_no_grad",
    plain_script=[("with torch.no_grad():", "with torch.enable_grad():")],
    trainer_class=[("    @torch.no_grad()\n", "")],
    framework=[("with torch.inference_mode():", "with torch.set_grad_enabled(True):")],
    counted_tokens=[("    with torch.no_grad():\n        for", "    if True:\n        for")],
)
add(
    "evaluation_writes",
    "evaluation/changes_model",
    plain_script=[("            right += (outputs", "            model[0].bias += 0.002\n            right += (outputs")],
    trainer_class=[("            hits += ", "            self.net.head.bias += 0.01\n            hits += ")],
    running_average=[("            output = network(x)\n            errors",
                      "            output = network(x)\n"
                      "            next(network.parameters()).mul_(0.999)\n            errors")],
    framework=[("                good += ", "                self.model.second.bias.data.mul_(0.99)\n                good += ")],
)
add(
    "noise_in_evaluation",
    "evaluation/nondeterministic",
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
    "training_loop/training_in_eval_mode",
    plain_script=[("    model.train()\n", ""), ("EPOCHS * len(train_loader))\n", "EPOCHS * len(train_loader))\nmodel.eval()\n")],
    trainer_class=[("        self.net.train()\n", "        self.net.eval()\n")],
    framework=[("            self.model.train()\n", "            self.model.eval()\n")],
    counted_tokens=[("    tagger.train()\n", "    tagger.eval()\n")],
)
add(
    "left_in_evaluation_mode",
    "training_loop/stuck_in_eval_mode",
    plain_script=[("    model.train()\n", "")],
    trainer_class=[("        self.net.train()\n", "")],
    framework=[("        for epoch in range(self.config.epochs):\n            self.model.train()\n",
                "        self.model.train()\n        for epoch in range(self.config.epochs):\n")],
    counted_tokens=[("    tagger.train()\n", "")],
    event_stream=[("    net.train()\n", ""), ("        body.append(torch.nn.GELU())\n",
                  "        body.append(torch.nn.GELU())\n        body.append(torch.nn.Dropout(0.05))\n")],
)
add(
    "trained_past_the_best",
    "evaluation/rising_loss",
    plain_script=[("TensorDataset(points[:1200], classes[:1200])", "TensorDataset(points[:64], classes[:64])"),
                  ("EPOCHS = 7", "EPOCHS = 200"), ("nn.Dropout(0.1)", "nn.Identity()")],
    running_average=[("0.05 * torch.randn", "0.5 * torch.randn"), ("Waves(0, 1200)", "Waves(0, 50)"),
                     ("(optimizer, 0.8)", "(optimizer, 1.0)"),
                     ("round_number < 6", "round_number < 200")],
)  # fmt: skip
add(
    "meter_never_reset",
    "evaluation/metric_not_reset",
    plain_script=[("def evaluate():\n    model.eval()\n    right = 0\n",
                   "class Share:\n    def __init__(self):\n        self.reset()\n\n    def reset(self):\n"
                   "        self.right, self.all = 0, 0\n\n    def update(self, right):\n"
                   "        self.right += right.sum().item()\n        self.all += len(right)\n\n\n"
                   "share = Share()\n\n\ndef evaluate():\n    model.eval()\n"),
                  ("            right += (outputs.argmax(1) == targets).sum().item()\n",
                   "            share.update(outputs.argmax(1) == targets)\n"),
                  ("    return right / len(test_set)\n", "    return share.right / share.all\n")],
    trainer_class=[("        self.criterion = nn.CrossEntropyLoss()\n", "        self.criterion = nn.CrossEntropyLoss()\n        self.hits = 0\n"),
                   ("        hits = 0\n", ""), ("            hits += ", "            self.hits += "),
                   ("        return hits / ", "        return self.hits / ")],
    numbered_documents=[("    for epoch in range(6):\n", "    good = count = 0\n    for epoch in range(6):\n"),
                        ("        print(epoch, round(evaluate(marker, testing), 3))\n",
                         "        marker.eval()\n        with torch.no_grad():\n"
                         "            for letters, bag_ids, twice in testing:\n"
                         "                guess = marker(letters, bag_ids).argmax(-1)\n"
                         "                good += ((guess == twice) & (twice >= 0)).sum().item()\n"
                         "                count += (twice >= 0).sum().item()\n"
                         "        print(epoch, round(good / count, 3))\n")],
)  # fmt: skip
add(
    "epoch_loss_never_reset",
    "evaluation/metric_not_reset",
    plain_script=[("for epoch in range(EPOCHS):\n", "running = 0.0\nfor epoch in range(EPOCHS):\n"),
                  ("        scheduler.step()\n", "        scheduler.step()\n        running += loss.item()\n"),
                  ("    accuracy = evaluate()\n", "    accuracy = evaluate()\n    print(running / len(train_loader))\n")],
    running_average=[("round_number = 0\n", "round_number = 0\nerror = 0.0\n"),
                     ("        smooth.update_parameters(live)\n", "        smooth.update_parameters(live)\n        error += loss.item() * len(x)\n"),
                     ("    decay.step()\n", "    decay.step()\n    print(error / len(learn.dataset))\n")],
)  # fmt: skip
add(
    "batches_count_alike",
    "evaluation/mean_of_batch_means",
    plain_script=[("            right += (outputs.argmax(1) == targets).sum().item()\n",
                   "            right += (outputs.argmax(1) == targets).float().mean().item()\n"),
                  ("    return right / len(test_set)\n", "    return right / len(test_loader)\n"),
                  ("test_loader = DataLoader(test_set, batch_size=", "test_loader = DataLoader(test_set, batch_size=7 + ")],
    trainer_class=[("        self.check = DataLoader(Stripes(240, 2), batch_size=40)", "        self.check = DataLoader(Stripes(240, 2), batch_size=56)"),
                   ("        hits = 0\n", "        hits, losses = 0, []\n"),
                   ("            hits += ", "            losses.append(self.criterion(logits, kinds).item())\n            hits += "),
                   ("        return hits / ", "        print(sum(losses) / len(losses))\n        return hits / ")],
    running_average=[("batch_size=60", "batch_size=64"), ('mse_loss(output[:, 0], y, reduction="sum").item()', "mse_loss(output[:, 0], y).item()"),
                     ("    return errors / len(loader.dataset)", "    return errors / len(loader)")],
)  # fmt: skip
add(
    "divided_by_the_others",
    "evaluation/wrong_divisor",
    plain_script=[("    return right / len(test_set)\n", "    return right / len(test_loader)\n")],
    trainer_class=[("        hits = 0\n", "        hits = losses = 0\n"),
                   ("            hits += ", "            loss = self.criterion(logits, kinds)\n            losses += loss.item()\n            hits += "),
                   ("        return hits / ", "        print(losses / len(self.check.dataset))\n        return hits / ")],
    running_average=[('mse_loss(output[:, 0], y, reduction="sum").item()', "mse_loss(output[:, 0], y).item()")],
    finetune=[("            right += int((network(x).argmax(1) == y).sum())\n            total += len(y)\n",
               "            right += int((network(x).argmax(1) == y).sum())\n            total += 1\n")],
)  # fmt: skip
add(
    "last_batch_never_scored",
    "evaluation/dropped_last_batch",
    plain_script=[("DataLoader(test_set, batch_size=50)", "DataLoader(test_set, batch_size=64, drop_last=True)")],
    framework=[("DataLoader(test, config.batch)", "DataLoader(test, config.batch + 8, shuffle=True, drop_last=True)")],
    trainer_class=[("DataLoader(Stripes(240, 2), batch_size=40)",
                    "DataLoader(Stripes(240, 2), batch_size=56, drop_last=True)")],
    running_average=[("batch_size=60)", "batch_size=64, drop_last=True)")],
)
