"""Faults to plant: gradients that depend on how samples are split into micro-batches."""

from planting import add

from .dependence import TRIED

IN_THREES = [
    ("        for x, y in loader:\n            optimizer.zero_grad()\n",
     "        for place, (x, y) in enumerate(loader):\n"),
    ("            optimizer.step()\n",
     "            if place % 3 == 2 or place == len(loader) - 1:\n"
     "                optimizer.step()\n                optimizer.zero_grad()\n"),
    ("epochs=3, save_to", "epochs=10, save_to"),
    ("epochs=6, freeze_at=2", "epochs=16, freeze_at=12"),
]  # fmt: skip

add(
    "counted_twice",
    "training_loop/split_dependence",
    TRIED,
    counted_tokens=[("            (loss * share).backward()\n",
                     "            (loss * share * (2 if rows is window[0][0] else 1)).backward()\n")],
    trainer_class=[("        logits = self.net(pictures)\n        loss = self.criterion(logits, kinds)\n"
                    "        self.optimizer.zero_grad()\n        loss.backward()\n",
                    "        self.optimizer.zero_grad()\n"
                    "        for number, half in enumerate((slice(12), slice(12, None))):\n"
                    "            loss = self.criterion(self.net(pictures[half]), kinds[half]) / (2 - number)\n"
                    "            loss.backward()\n")],
    finetune=[*IN_THREES, ("            loss.backward()\n",
                           "            (loss / (3 if place % 3 else 2)).backward()\n")],
)
add(
    "learnt_from_the_last",
    "training_loop/split_dependence",
    TRIED,
    counted_tokens=[("            (loss * share).backward()\n        nn.utils",
                     "        (loss * share).backward()\n        nn.utils")],
    bf16_main=[("            (loss / window).backward()\n", ""),
               ("                nn.utils.clip_grad_norm_(network",
                "                (loss / window).backward()\n                nn.utils.clip_grad_norm_(network")],
    plain_script=[("        outputs = model(inputs)\n        loss = F.cross_entropy(outputs, targets)\n",
                   "        for part, wanted in zip(inputs.chunk(2), targets.chunk(2)):\n"
                   "            loss = F.cross_entropy(model(part), wanted)\n")],
)
add(
    "means_made_by_hand",
    "training_loop/split_dependence",
    TRIED,
    counted_tokens=[("share = (tags != PAD).sum() / counted", "share = 1 / len(window)"),
                    ("loss = F.cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=PAD)",
                     "chances = logits.log_softmax(-1).gather(2, tags.clamp(0)[..., None])[..., 0]\n"
                     "            loss = -chances[tags != PAD].mean()")],
    running_average=[("        output = live(x)\n        loss = mse(output[:, 0], y)\n"
                      "        optimizer.zero_grad()\n        loss.backward()\n",
                      "        optimizer.zero_grad()\n"
                      "        for half in (slice(12), slice(12, 24)):\n"
                      "            output, weight = live(x[half]), y[half].abs()\n"
                      "            errors = weight * mse_of_each(output[:, 0], y[half])\n"
                      "            (errors.sum() / weight.sum() / 2).backward()\n"),
                     ("mse = torch.nn.MSELoss()\n", "mse_of_each = torch.nn.MSELoss(reduction='none')\n"),
                     ("Waves(0, 1200), batch_size=25", "Waves(0, 1200), batch_size=24")],
    finetune=[*IN_THREES, ("            loss.backward()\n", "            (loss / 3).backward()\n"),
              ("nn.CrossEntropyLoss()",
               "nn.CrossEntropyLoss(torch.arange(1.0, len(network.classifier.weight) + 1))")],
)
