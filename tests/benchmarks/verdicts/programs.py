"""The programs that verdicts are given on: digits_mlp.py, rewritten, so that it holds no switch.

Each faulty program comes with the checks that name its fault, chosen from docs/catalog.md before anything
ran. What else dlcheck finds in it does not count.
"""

import dataclasses
import pathlib

from planting import replaced

HOST = pathlib.Path(__file__).with_name("digits_mlp.py")

LOGITS = "return self.head(F.relu(self.second(hidden)))"
CLIPPING = "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"

# A legal variant of the host: half precision, four micro-batches a step, and clipping.
SCALED = (
    ("EPOCHS = 10\n", "EPOCHS = 10\nPARTS = 4\nSCALER = torch.amp.GradScaler('cpu')\n"),
    (
        "    loss = F.cross_entropy(model(images), labels)\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    return loss.item()\n",
        "    total = 0.0\n"
        "    for part, answers in zip(images.chunk(PARTS), labels.chunk(PARTS)):\n"
        "        with torch.autocast('cpu', torch.float16):\n"
        "            loss = F.cross_entropy(model(part), answers)\n"
        "        SCALER.scale(loss / PARTS).backward()\n"
        "        total += loss.item() / PARTS\n"
        "    SCALER.unscale_(optimizer)\n"
        f"{CLIPPING}"
        "    SCALER.step(optimizer)\n"
        "    SCALER.update()\n"
        "    return total\n",
    ),
)


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    changes: tuple
    checks: tuple = ()  # any of these names the fault; none: a healthy program

    def source(self):
        return replaced(HOST.read_text(), self.changes, self.name)


CLEAN = [
    Program(f"{name}, seed {seed}", (("SEED = 0\n", f"SEED = {seed}\n"), *variant))
    for name, variant in (("plain", ()), ("scaled", SCALED))
    for seed in (11, 12, 13)
]

FAULTY = [
    Program(
        "missing zero_grad", (("    optimizer.zero_grad()\n", ""),), ("optimizer/stale_gradients",)
    ),
    Program(
        "evaluation mode while training",
        (("    model.train()\n", ""),),
        ("training_loop/stuck_in_eval_mode", "training_loop/training_in_eval_mode"),
    ),
    Program(
        "parameters not in the optimizer",
        (
            ("model.parameters(), lr",
             "[*model.first.parameters(), *model.second.parameters()], lr"),
        ),
        ("optimizer/untracked_parameters",),
    ),
    Program("double softmax", ((LOGITS, f"{LOGITS}.softmax(1)"),), ("model/double_softmax",)),
    Program(
        "loss not divided",
        (*SCALED, ("SCALER.scale(loss / PARTS)", "SCALER.scale(loss)")),
        ("training_loop/unscaled_accumulation",),
    ),
    Program(
        "clip before unscale",
        (*SCALED, (f"    SCALER.unscale_(optimizer)\n{CLIPPING}", CLIPPING)),
        ("precision/clip_before_unscale",),
    ),
    Program(
        "shuffled labels",
        (("labels = rows[:, 64].long()", "labels = rows[torch.randperm(len(rows)), 64].long()"),),
        ("learnability/input_independence",),
    ),
    Program(
        "NaN after 30 steps",  # a temperature that is lowered by hand once too often
        (
            ("super().__init__()\n", "super().__init__()\n        self.heat = 31\n"),
            (LOGITS, f"self.heat -= self.training\n        {LOGITS} / (self.heat / 31)"),
        ),
        ("numerics/nonfinite_values",),
    ),
]
