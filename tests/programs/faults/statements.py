"""Faults to plant: statements without effect."""

from planting import add

add(
    "call_without_parentheses",
    "program/method_not_called",
    plain_script=[("        optimizer.zero_grad()\n", "        optimizer.zero_grad\n")],
    trainer_class=[("        self.net.eval()\n", "        self.net.eval\n")],
    closures=[("        descent.zero_grad()\n", "        descent.zero_grad\n")],
    counted_tokens=[("    tagger.eval()\n", "    tagger.eval  # for the time of the evaluation\n")],
)
add(
    "result_not_taken",
    "program/discarded_result",
    found_marks=[
        ("        weights = self.score(there).squeeze(-1).masked_fill(blank, -math.inf).softmax(-1)\n",
         "        weights = self.score(there).squeeze(-1)\n        weights.masked_fill(blank, -math.inf)\n"
         "        weights = weights.softmax(-1)\n"),
    ],
    masked_tagger=[("    return rows, tags.masked_fill(rows == NOTHING, -100)\n",
                    "    tags.masked_fill(rows == NOTHING, -100)\n    return rows, tags\n")],
    trainer_class=[("        return loss.detach()\n", "        loss.detach()\n        return loss\n")],
)  # fmt: skip
