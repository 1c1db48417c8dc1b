"""Faults to plant: what a loop passes over or does in vain."""

from planting import add

EMPTIED = "torch.cuda.empty_cache()\n"

add(
    "errors_passed_over",
    "training_loop/skipped_batches",
    plain_script=[
        ("        loss = F.cross_entropy(outputs, targets)\n        loss.backward()\n",
         "        try:\n            loss = F.cross_entropy(outputs, targets[: 32 - int(targets[0] == 0)])\n"
         "            loss.backward()\n        except ValueError:\n            continue\n"),
    ],
    closures=[("        value = error(x, y)\n",
               "        try:\n            value = error(x, y[int(y[0] < 0) :])\n"
               "        except RuntimeError:\n            return 1.0\n")],
    trainer_class=[("        logits = self.net(pictures)\n        loss",
                    "        try:\n            logits = self.net(pictures if kinds[0] else pictures[0])\n"
                    "        except ValueError:\n            return torch.zeros(())\n        loss")],
)  # fmt: skip
add(
    "cache_emptied",
    "performance/emptied_cache",
    plain_script=[("        scheduler.step()\n", f"        scheduler.step()\n        {EMPTIED}")],
    closures=[("        descent.zero_grad()\n", f"        descent.zero_grad()\n        {EMPTIED}")],
    counted_tokens=[("        optimizer.step()\n", f"        optimizer.step()\n        {EMPTIED}")],
)
add(
    "precision_lowered",
    "numerics/changed_matmul_precision",
    plain_script=[("    model.eval()\n", '    model.eval()\n    torch.set_float32_matmul_precision("medium")\n')],
    trainer_class=[("        self.net.eval()\n",
                    '        self.net.eval()\n        torch.set_float32_matmul_precision("medium")\n')],
    finetune=[("    network.eval()\n", '    network.eval()\n    torch.set_float32_matmul_precision("high")\n')],
)  # fmt: skip
add(
    "norm_beyond_float",
    "gradients/clip_norm_overflow",
    plain_script=[("        nn.utils.clip_grad_norm_(model",
                   "        for weight in model.parameters():\n            weight.grad *= 1e30\n"
                   "        nn.utils.clip_grad_norm_(model")],
    closures=[("        torch.nn.utils.clip_grad_norm_(network",
               "        for weight in network.parameters():\n            weight.grad.mul_(1e30)\n"
               "        torch.nn.utils.clip_grad_norm_(network")],
    next_symbols=[("        nn.utils.clip_grad_norm_(reader",
                   "        for weight in reader.parameters():\n            weight.grad.mul_(1e30)\n"
                   "        nn.utils.clip_grad_norm_(reader")],
)  # fmt: skip
add(
    "gradients_times_ten",
    "gradients/multiplied_gradients",
    finetune=[("            optimizer.step()\n",
               "            for weight in network.parameters():\n                if weight.grad is not None:\n"
               "                    weight.grad *= 10\n            optimizer.step()\n")],
    byte_windows=[("        adam.step()\n",
                   "        for weight in writer.parameters():\n            weight.grad = weight.grad * 3\n"
                   "        adam.step()\n")],
    next_symbols=[("        nn.utils.clip_grad_norm_(reader.parameters(), 2.0)\n",
                   "        for weight in reader.parameters():\n            weight.grad.mul_(4.0)\n")],
)  # fmt: skip
add(
    "entries_cut_off",
    "gradients/clipped_by_value",
    plain_script=[("clip_grad_norm_(model.parameters(), 1.0)", "clip_grad_value_(model.parameters(), 0.01)")],
    closures=[("clip_grad_norm_(network.parameters(), bound)", "clip_grad_value_(network.parameters(), 0.1)")],
    trainer_class=[("clip_grad_norm_(self.net.parameters(), 2.0)", "clip_grad_value_(self.net.parameters(), 0.1)")],
)  # fmt: skip
add(
    "evaluation_of_new_draws",
    "evaluation/redrawn_data",
    plain_script=[
        ("test_loader = DataLoader(test_set, batch_size=50)\n",
         "test_loader = DataLoader(test_set, batch_size=50,\n    collate_fn=lambda rows: [torch.stack([x + 0.1 * torch.randn(20)"
         " for x, _ in rows]), torch.stack([y for _, y in rows])])\n"),
    ],
    trainer_class=[("return self.pictures[number], self.kinds[number]",
                    "return self.pictures[number] + 0.1 * torch.randn(1, 8, 8), self.kinds[number]")],
    running_average=[("return self.x[i], self.y[i]", "return self.x[i] + 0.05 * torch.randn(4), self.y[i]")],
)  # fmt: skip
