"""Faults to plant: what evaluations compare, and what is kept of them."""

from planting import add

add(
    "compared_with_all_targets",
    "evaluation/broadcast_metric",
    running_average=[("            errors += ", "            near.append((output - y).abs().mean().item())\n            errors += "),
                     ("    errors = 0.0\n", "    errors, near = 0.0, []\n"),
                     ("    return errors / ", "    print(sum(near))\n    return errors / ")],
)  # fmt: skip
add(
    "column_meets_a_row",
    "evaluation/broadcast_metric",
    folder="healthy",
    crossed_fields=[("(self.linear(x) + pairs).squeeze(1)", "(self.linear(x) + pairs)"),
                    ("criterion(model(x), y)", "criterion(model(x).squeeze(1), y)")],
    padded_encoder=[("[:, 0]).squeeze(-1)", "[:, 0])"), ("criterion(model(kind, amount), label)", "criterion(model(kind, amount), label[:, None])"),
                    ("assert right > 0.8, right\n", "")],
    worth_of_places=[("worth = net(torch.arange(1, PLACES - 1)).squeeze(1)\n",
                      "worth = net(torch.arange(1, PLACES - 1)).squeeze(1)\n"
                      "    for place, reward in DataLoader(TensorDataset(loader.dataset.tensors[0], loader.dataset.tensors[1].flatten()), 50):\n"
                      "        print((net(place) - reward).abs().mean())\n")],
)  # fmt: skip
add(
    "highest_loss_kept",
    "checkpoint/worst_taken_for_best",
    running_average=[("round_number = 0\n", "round_number, top, kept = 0, 0.0, None\n"),
                     ("    round_number += 1\n",
                      "    round_number += 1\n    error = residual(live, held)\n    if error > top:\n"
                      "        top, kept = error, {name: value.clone() for name, value in live.state_dict().items()}\n")],
    trainer_class=[("            self.save()\n", "            if loss >= highest:\n                highest = loss\n                self.save()\n"),
                   ("        for epoch in range(first, last):\n", "        highest = 0.0\n        for epoch in range(first, last):\n")],
)  # fmt: skip
add(
    "lowest_accuracy_kept",
    "checkpoint/worst_taken_for_best",
    plain_script=[("folder = tempfile.TemporaryDirectory()\n", "folder, bad = tempfile.TemporaryDirectory(), 1.0\n"),
                  ("    torch.save(state,", "    if accuracy < bad:\n        bad = accuracy\n        torch.save(state, folder.name + \"/bad.pt\")\n    torch.save(state,")],
    finetune=[("        if save_to:\n", "        value = examine(network, make(400, 4, 3)) if freeze_at else 1.0\n        if 0 < value < lowest:\n            lowest, waited = value, 0\n"
               "        else:\n            waited += 1\n        if save_to:\n"),
              ("    for epoch in range(epochs):\n", "    lowest, waited = 1.0, 0\n    for epoch in range(epochs):\n")],
)  # fmt: skip
add(
    "ends_like_other_moves",
    "training_loop/terminal_value_used",
    folder="healthy",
    keeps_inside=[(" * (1 - fell)\n", "\n"), ("fell, stopped = ring.draw(64)", "fell = ring.draw(64)[:5]"), ("assert moves > 25, moves\n", "")],
    worth_of_places=[(" * (1.0 - over)\n", "\n")],
)  # fmt: skip
add(
    "tested_on_what_chose",
    "evaluation/tested_on_selection_data",
    plain_script=[("folder = tempfile", "top, kept = 0.0, None\nfolder = tempfile"),
                  ("    state = {", "    if epoch < EPOCHS - 1 and accuracy > top:\n        top = accuracy\n"
                   "        kept = {name: value.clone() for name, value in model.state_dict().items()}\n    state = {"),
                  ("assert accuracy", "model.load_state_dict(kept)\naccuracy = evaluate()\nassert accuracy")],
    trainer_class=[("            self.save()\n", "            self.save()\n            if epoch < 5 and score > top:\n                top = score\n"
                    "                self.kept = {name: value.clone() for name, value in self.net.state_dict().items()}\n"),
                   ("        for epoch in range(first, last):\n", "        top = 0.0\n        for epoch in range(first, last):\n"),
                   ("        score = trainer.fit(3, 6)\n", "        trainer.fit(3, 6)\n        trainer.net.load_state_dict(trainer.kept)\n        score = trainer.validate()\n")],
)  # fmt: skip
add(
    "measures_of_batches_averaged",
    "evaluation/mean_of_batch_metrics",
    plain_script=[("            F.cross_entropy(outputs, targets)\n            right", "            puzzled += F.cross_entropy(outputs, targets).exp().item()\n            right"),
                  ("    right = 0\n", "    right, puzzled = 0, 0.0\n"), ("    return right / ", "    print(puzzled / len(test_loader))\n    return right / ")],
    trainer_class=[("        hits = 0\n", "        hits, total = 0, 0.0\n"),
                   ("            hits += ", "            said, real = logits.argmax(1) == 2, kinds == 2\n            both = (said & real).sum()\n"
                    "            exact, complete = both / said.sum().clamp(min=1), both / real.sum()\n"
                    "            total += (2 * exact * complete / (exact + complete + 1e-9)).item()\n            hits += "),
                   ("        return hits / ", "        print(total / len(self.check))\n        return hits / ")],
)  # fmt: skip
