"""Plants faults in the small programs by rewriting their source, so that they hold no switch for
it.

Each piece of text that is replaced must be there exactly once.
"""

from tests.observe.reading import PROGRAMS

# By program and check: the texts to replace, each with what takes its place.
PLANTS = {
    "plain": {
        "initialization/wrong_initial_loss": [("logits = model(x[batch])", "logits = 20 * model(x[batch])")],
        "learnability/cannot_overfit_one_batch": [
            ("F.cross_entropy(logits, y[batch])", "F.cross_entropy(logits.clamp(-1, 1), y[batch])")
        ],
        "learnability/input_independence": [("model(x[batch])", "model(x[batch] * 0)")],
        "optimizer/stale_gradients": [("    optimizer.zero_grad()\n", "")],
        "gradients/missing": [
            ("torch.nn.ReLU(),", "torch.nn.ReLU(), Frozen(),"),
            (
                "torch.manual_seed(7)\n",
                "class Frozen(torch.nn.Module):\n"
                "    def forward(self, hidden):\n"
                "        return hidden.detach()\n\n\n"
                "torch.manual_seed(7)\n",
            ),
        ],
        "numerics/nonfinite_values": [
            ("    optimizer.step()\n", "    optimizer.step()\n    x[step == 70 and batch] /= 0\n")
        ],
        "program/failed": [
            ("    optimizer.step()\n", "    optimizer.step()\n    assert step < 37, 'no space'\n")
        ],
    },
    "closures": {
        "initialization/wrong_initial_loss": [
            ("    return torch.nn.Sequential(", "    return Loud("),
            (
                "def network():",
                "class Loud(torch.nn.Sequential):\n"
                "    def forward(self, pictures):\n"
                "        return super().forward(pictures) * 25\n\n\n"
                "def network():",
            ),
        ],
        "learnability/cannot_overfit_one_batch": [
            ("Linear(12 * 16, 10),", "Linear(12 * 16, 10),\n        torch.nn.Hardtanh(),")
        ],
        "learnability/input_independence": [
            (
                "functional_call(skeleton, weights, (inputs,)), targets)",
                "functional_call(skeleton, weights, (torch.zeros_like(inputs),)), targets)",
            )
        ],
    },
    "trainer": {
        "initialization/wrong_initial_loss": [
            (
                "        self.head = nn.Linear(width, 10)\n",
                "        self.head = nn.Linear(width, 10)\n"
                "        nn.init.normal_(self.head.weight, std=4)\n",
            )
        ],
        "learnability/cannot_overfit_one_batch": [
            ("self.head(self.drop(hidden))", "self.head(self.drop(hidden)).clamp(-1, 1)")
        ],
        "learnability/input_independence": [
            ("self.norm(self.trunk(pixels))", "self.norm(self.trunk(pixels)) * 0")
        ],
    },
}  # fmt: skip


def planted(program, check):
    """The source of a small program with the fault that `check` is to find."""
    source = (PROGRAMS / f"digits_{program}.py").read_text()
    for old, new in PLANTS[program][check]:
        if source.count(old) != 1:
            raise ValueError(f"{old!r} stands {source.count(old)} times in digits_{program}.py")
        source = source.replace(old, new)
    return source
