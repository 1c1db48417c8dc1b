"""How fast the loss rises along its gradient under held weights, and what may make it another slope."""

import unittest

from tests.observe.shim_held_test import held

LOSS = "F.cross_entropy(outputs, targets)"
EXACT = 2e-3  # eight times what a slope of float32 is known to


def slope(**places):
    """(ratio, uncertainty, cuts by their operation, why there is none)."""
    trace = held(**places)
    rows = trace.of("quantity", "slope_ratio")
    cuts = {row.thing[2]: row.site and int(row.site[1]) for row in trace.of("quantity", "graph_cuts")}
    reason = trace.process.get("untried/slope") or trace.process.get("refused")
    return (rows[0].value, rows[0].aux, cuts, reason) if rows else (None, None, cuts, reason)


class Slope(unittest.TestCase):
    def assert_slope(self, exact, cuts, **places):
        ratio, known, found, reason = slope(**places)
        self.assertIsNone(reason, places)
        self.assertLess(known, EXACT, places)
        self.assertEqual(abs(ratio - 1) < EXACT, exact, (places, ratio))
        self.assertEqual(set(found), cuts, places)
        return found

    def test_a_gradient_is_the_slope_of_its_loss(self):
        for places in (
            {"layer": "torch.nn.BatchNorm1d(16)"},
            {"loss": f"-7 * {LOSS} - 40 * F.softplus(outputs).mean()"},
            {"before": "optimizer.zero_grad(set_to_none=False)"},
            {"loss": f"{LOSS} * torch.rand(())"},
            {"loss": f"{LOSS} + sum(p.square().sum() for p in model.parameters())"},
        ):
            self.assert_slope(True, set(), **places)

    def test_what_stands_in_for_a_function_is_called_once(self):
        others = "own = F.cross_entropy; F.cross_entropy = lambda x, y: 1.5 * own(x, y)"
        self.assert_slope(True, set(), others=others)

    def test_gradients_from_before_are_no_part_of_it(self):
        self.assert_slope(True, set(), before="[setattr(p, 'grad', 7 * torch.ones_like(p))"
                                              " for p in model.parameters()]")  # fmt: skip

    def test_what_is_read_of_graphs_gone_through_is_no_cut(self):
        self.assert_slope(True, set(), others="loss, outputs = torch.ones(()), torch.ones(3)",
                          before="told = loss.item(), outputs.detach().mean()")  # fmt: skip

    def test_a_program_without_a_loader_is_judged(self):
        whole = "inputs, targets = x, x[:, :3].argmax(1)"
        ratio, _, cuts, reason = slope(labels="x[:, :3].argmax(1)", before=whole)
        self.assertLess(abs(ratio - 1), EXACT)
        self.assertEqual((cuts, reason), ({}, None))

    def test_values_that_leave_the_graph(self):
        for name, term in (
            ("detach", "outputs.detach().square().mean()"), ("item", "outputs.square().mean().item()"),
            ("data", "outputs.data.square().mean()"), ("gt", "(outputs > 0.1).float().mean() * 9"),
        ):  # fmt: skip
            found = self.assert_slope(name == "gt", {name}, loss=f"{LOSS} + {term}")
            self.assertEqual(found, {name: 17})

    def test_hooks_and_functions(self):
        self.assert_slope(False, {"a hook"}, others="model[3].weight.register_hook(lambda g: g * 2)")
        self.assert_slope(False, {"register_hook"},
                          loss=f"(outputs.register_hook(lambda g: g * 9), {LOSS})[1]")  # fmt: skip
        self.assert_slope(False, {"RoundBackward0"}, loss=f"{LOSS} + (outputs * 1e6).round().mean() / 1e6")

    def test_weights_that_the_program_moves_too(self):
        after = "[p.data.mul_(p.data.norm().clamp(max=1) / p.data.norm()) for p in model.parameters()]"
        *_, reason = slope(before=after)
        self.assertEqual(reason, "the program changes weights outside of the optimizer")

    def test_kinks_are_part_of_the_uncertainty(self):
        ratio, known, *_ = slope(loss="(sum((p - p.detach()).abs().sum() for p in model.parameters())"
                                      f" + {LOSS})")  # fmt: skip
        self.assertLess(abs(ratio - 1), 8 * known + EXACT)


if __name__ == "__main__":
    unittest.main()
