"""What the loss of a step is worth is told of a loss that is one of several terms, of one that takes probabilities,
and of targets that come a few at a time."""

import math
import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    net = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(80):
        x, y = torch.randn(4, 3), torch.arange(4) % 2
        optimizer.zero_grad()
        out = net(x)
        loss = LOSS
        loss.backward()
        optimizer.step()
    """
)
# Rows of four to seven tokens that are filled up, with the next tokens for targets.
TEXTS = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(12):
        ids = torch.randint(2, 20, (16, 9))
        lengths = torch.arange(16) % 4 + 4
        ids[torch.arange(16), lengths - 1] = END
        labels = ids.masked_fill(torch.arange(9) >= lengths[:, None], -100)
        F.cross_entropy(net(ids)[:, :-1].flatten(0, 1), labels[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
    """
)
BINARY = "F.binary_cross_entropy{}, F.one_hot(y, 2).float())"
PROBABILITIES, LOGITS = BINARY.format("(out.sigmoid()"), BINARY.format("_with_logits(out")


def rows(loss, quantity):
    run = run_watched(python("-c", PROGRAM.replace("LOSS", loss)))
    assert run.status == 0, run.err
    return run.main.of("quantity", quantity)


SCALED = textwrap.dedent(
    """
    import torch, torch.nn as nn
    torch.manual_seed(0)
    net, scaler = nn.Linear(3, 2), torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    x, y = torch.randn(4, 3), torch.arange(4) % 2
    for step in range(12):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        BACKWARD
        scaler.step(optimizer)
        scaler.update()
    print(loss.item(), scaler.get_scale())
    """
)


class Scaled(unittest.TestCase):
    def test_losses_are_told_without_the_scale_of_a_scaler_that_grows(self):
        for backward in ("scaler.scale(loss).backward()", "(scaler.scale(loss) / 1).backward()"):
            run = run_watched(python("-c", SCALED.replace("BACKWARD", backward)))
            loss, scale = map(float, run.out.split())
            self.assertEqual(scale, 65536)
            told = [row.value for row in run.main.of("quantity", "loss")]
            self.assertEqual(len(told), 12)
            for value in told:
                self.assertAlmostEqual(value, loss, places=6)


class Terms(unittest.TestCase):
    def told(self, loss):
        return {(row.thing[2], round(row.value, 6), row.aux) for row in rows(loss, "loss_term_share")}

    def test_each_term_is_told_by_what_it_is_of_a_mean(self):
        summed = "F.cross_entropy(out, y, reduction='sum')"
        penalty = "0.1 * out.square().mean()"
        self.assertEqual(self.told(f"{summed} + {penalty}"), {("cross_entropy", 4, 4)})
        self.assertEqual(self.told(f"{penalty} + {summed} / 4"), {("cross_entropy", 1, 4)})
        self.assertEqual(self.told(f"({summed} + F.mse_loss(out, x[:, :2])) / 2"),
                         {("cross_entropy", 2, 4), ("mse_loss", 0.5, 8)})

    def test_a_sum_that_is_doubled_again_and_again_ends(self):
        doubled = "out.square().mean()\n    for i in range(60): loss = loss + loss"
        self.assertTrue(rows(doubled, "loss"))

    def test_a_term_that_is_added_with_a_factor_is_left_out(self):
        self.assertEqual(self.told("out.mean().add(F.cross_entropy(out, y), alpha=3)"), set())

    def test_a_loss_that_stands_alone_is_no_term_and_one_in_a_product_neither(self):
        self.assertEqual(self.told("F.cross_entropy(out, y, reduction='sum')"), set())
        self.assertEqual(self.told("F.cross_entropy(out, y) * out.square().mean() + out.mean()"), set())


class Means(unittest.TestCase):
    def test_of_each_function_of_a_sum_are_told_whatever_its_reduction(self):
        ways = ("F.cross_entropy(out, y)", "F.cross_entropy(out, y, reduction='sum') / 4",
                "F.cross_entropy(out, y, reduction='none').mean()")
        first = [rows(f"{way} * 3 + out.square().mean()", "mean_loss")[0] for way in ways]
        self.assertEqual(len({round(row.value, 5) for row in first}), 1)
        self.assertEqual([row.aux for row in first], [4, 4, 4])

    def test_are_those_of_the_call_where_the_program_adds_to_the_result_in_place(self):
        added = [rows(f"F.cross_entropy(out, y){more}", "mean_loss")[0].value
                 for more in (" + 7 + out.mean()", "; loss += 7; loss += out.mean()")]
        self.assertAlmostEqual(*added, places=5)

    def test_of_a_function_that_stands_alone_or_weighs_its_classes_are_not_told(self):
        for loss in ("F.cross_entropy(out, y) / 4",
                     "F.cross_entropy(out, y, weight=torch.tensor([1., 2.])) + out.mean()"):
            self.assertEqual(rows(loss, "mean_loss"), [], loss)

    def test_are_told_where_gradients_are_asked_for_without_a_backward(self):
        by_hand = "F.mse_loss(out, x[:, :2]); torch.autograd.grad(loss, net.parameters()); loss = net(x).sum() * 0"
        self.assertGreaterEqual(len({row.step for row in rows(by_hand, "mean_loss")}), 64)


class Targets(unittest.TestCase):
    def test_few_a_step_are_put_together_until_there_are_enough(self):
        found = rows("F.cross_entropy(out, y)", "pooled_constant_loss")
        self.assertEqual([row.aux for row in found], [32, 256])
        for row in found:
            self.assertAlmostEqual(row.value, math.log(2))

    def test_enough_in_the_first_step_are_not_added_to(self):
        self.assertEqual(rows("F.mse_loss(out.repeat(64, 1), x[:, :2].repeat(64, 1))", "pooled_constant_loss"), [])


def texts(end):
    return TEXTS.replace("END", end)


class EndTokens(unittest.TestCase):
    def last(self, end):
        row = run_watched(python("-c", texts(end))).main.of("quantity", "end_tokens")[-1]
        return row.value, round(row.aux, 3)

    def test_of_texts_that_end_with_one_token_are_one(self):
        self.assertEqual(self.last("1"), (1, 1))

    def test_of_texts_that_end_with_any_are_many(self):
        tokens, share = self.last("torch.randint(2, 20, (16,))")
        self.assertEqual(tokens, 18)
        self.assertLess(share, 0.2)


class OfProbabilities(unittest.TestCase):
    def test_the_loss_is_worked_out_as_that_of_logits(self):
        for quantity in ("initial_loss", "independent_loss", "constant_loss"):
            ((given,), (logits,)) = rows(PROBABILITIES, quantity), rows(LOGITS, quantity)
            self.assertAlmostEqual(given.value, logits.value, places=5)


if __name__ == "__main__":
    unittest.main()
