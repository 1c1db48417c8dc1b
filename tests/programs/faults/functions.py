"""Faults to plant: the program's own in the place of a function of torch, or of an operation that fails."""

from planting import add

from faults.dependence import TRIED

IMPORTED = "import torch.nn.functional as F\n"
# Scales by what others take for the whole of the width.
UNSCALED = (
    "\n\ndef quick(queries, keys, values, attn_mask=None, is_causal=False):\n"
    "    there = torch.ones(queries.shape[-2], keys.shape[-2], dtype=torch.bool)\n"
    "    there = there.tril() if is_causal else there if attn_mask is None else attn_mask\n"
    "    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1]\n"
    "    return scores.masked_fill(~there, -1e9).softmax(-1) @ values\n\n\n"
    "F.scaled_dot_product_attention = quick\n"
)
# Its backward forgets to divide by the number of targets.
UNDIVIDED = (
    "\n\nclass Quick(torch.autograd.Function):\n"
    "    @staticmethod\n    def forward(ctx, scores, wanted):\n"
    "        logs = scores.log_softmax(1)\n        ctx.save_for_backward(logs, wanted)\n"
    "        return -logs.gather(1, wanted.unsqueeze(1)).mean()\n\n"
    "    @staticmethod\n    def backward(ctx, g):\n        logs, wanted = ctx.saved_tensors\n"
    "        chosen = torch.zeros_like(logs).scatter(1, wanted.unsqueeze(1), 1)\n"
    "        return g * (logs.exp() - chosen) / 8, None\n\n\n"
    "def quick(scores, wanted, *_, **__):\n    return Quick.apply(scores, wanted)\n\n\n"
    "torch.nn.functional.cross_entropy = quick\n"
)

add(
    "quick_but_other",
    "numerics/wrong_reimplementation",
    TRIED,
    packed_rows=[("from torch import nn\n", "from torch import nn\n" + UNSCALED)],
    labeled_decoder=[(IMPORTED, IMPORTED + UNSCALED)],
    trainer_class=[("from torch.optim.lr_scheduler import OneCycleLR\n",
                    "from torch.optim.lr_scheduler import OneCycleLR\n" + UNDIVIDED)],
)
add(
    "slope_of_a_root_at_zero",
    "numerics/nonfinite_values",
    ("--deep", "--select", "numerics/*"),
    plain_script=[("        outputs = model(inputs)\n        loss",
                   "        outputs = model(inputs)\n"
                   "        outputs = outputs + (outputs * 0).square().sqrt()\n        loss")],
    closures=[("output = network(x)", "output = network(x) + (network(x) * 0).square().sqrt()")],
    trainer_class=[("loss = self.criterion(logits, kinds)",
                    "loss = self.criterion(logits + (logits * 0).square().sqrt(), kinds)")],
)
