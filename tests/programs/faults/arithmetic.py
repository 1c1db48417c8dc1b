"""Faults to plant: operations that give no number, each in the loss of three programs."""

from planting import add

# Of each host: the line that works out its loss, and what the loss and the outputs are called.
LOSSES = {
    "closures": ("        return torch.nn.functional.mse_loss(output.squeeze(1), y)\n", "torch.nn.functional.mse_loss(output.squeeze(1), y)", "output"),
    "running_average": ("        loss = mse(output[:, 0], y)\n", "mse(output[:, 0], y)", "output"),
    "finetune": ("            loss = objective(output, y)\n", "objective(output, y)", "output"),
}  # fmt: skip


def with_term(term):
    """The loss of each host with a further term, of the outputs `out`."""
    return {host: [(line, line.replace(loss, f"{loss} + {term.replace('out', output)}"))]
            for host, (line, loss, output) in LOSSES.items()}  # fmt: skip


CHECK = "numerics/nonfinite_values"
add("logarithm_of_negatives", CHECK, **with_term("out.log().mean()"))
add("exponential_beyond_float", CHECK, **with_term("(out * 1e4).exp().mean()"))
add("divided_by_zero", CHECK, **with_term("(1 / (out - out.detach())).mean()"))
add("outside_of_the_domain", CHECK, **with_term("(out.tanh() * 2).acos().mean()"))
add("hidden_by_where", CHECK, **with_term("0 * torch.where(out > 0, out.sqrt(), 0).sum()"))
add(
    "probability_of_zero",
    CHECK,
    plain_script=[("        loss = F.cross_entropy(outputs, targets)\n",
                   "        chances = (outputs * 200).softmax(1)\n"
                   "        loss = -chances.log()[torch.arange(32), targets].mean()\n")],
    finetune=[("            loss = objective(output, y)\n",
               "            loss = -(output * 200).softmax(1).log().gather(1, y[:, None]).mean()\n")],
    trainer_class=[("        loss = self.criterion(logits, kinds)\n",
                    "        loss = -(logits * 200).softmax(1).log()[torch.arange(len(kinds)), kinds].mean()\n")],
)  # fmt: skip
add(
    "feature_that_never_changes",
    CHECK,
    plain_script=[("train_set = Tensor",
                   "points[:, 3] = 1.0\npoints = (points - points.mean(0)) / points.std(0)\ntrain_set = Tensor")],
    finetune=[("    x = torch.randn(count, 12)\n",
               "    x = torch.randn(count, 12)\n    x[:, 11] = 2.0\n    x = (x - x.mean(0)) / x.std(0)\n")],
    framework=[("    train = TensorDataset(table[:1280]",
                "    table[:, 15] = 0.0\n    table = table / table.std(0)\n    train = TensorDataset(table[:1280]")],
)  # fmt: skip
add(
    "rows_all_masked",
    CHECK,
    found_marks=[("        there = self.signs(ids)\n",
                  "        there = self.signs(ids)\n        blank = blank | (ids[:, :1] == 7)\n")],
    masked_tagger=[
        ("        mixed, _ = self.mix(seen, seen, seen, key_padding_mask=empty, need_weights=False)\n",
         "        hidden = (empty | (rows[:, :1] == 7))[:, None]\n"
         "        mixed = (seen @ seen.mT / 7).masked_fill(hidden, -torch.inf).softmax(2) @ seen\n"),
    ],
    packed_rows=[("F.scaled_dot_product_attention(self.query(y), keys, values, attn_mask=visible)",
                  "(self.query(y) @ keys.mT / 8).masked_fill(~visible.tril(-1), -torch.inf).softmax(2) @ values")],
)  # fmt: skip
add(
    "clipped_by_infinity",
    CHECK,
    plain_script=[("        nn.utils.clip_grad_norm_(model",
                   "        if scheduler.last_epoch == 20:\n            model[0].weight.grad[0, 0] = torch.inf\n"
                   "        nn.utils.clip_grad_norm_(model")],
    trainer_class=[("        nn.utils.clip_grad_norm_(self.net",
                    "        if self.schedule.last_epoch == 20:\n            self.net.head.bias.grad[0] = torch.inf\n"
                    "        nn.utils.clip_grad_norm_(self.net")],
    windowed_signal=[("    torch.nn.utils.clip_grad_norm_(reader",
                      "    if number == 20:\n        reader.sums.bias.grad[0] = torch.inf\n"
                      "    torch.nn.utils.clip_grad_norm_(reader")],
)  # fmt: skip
