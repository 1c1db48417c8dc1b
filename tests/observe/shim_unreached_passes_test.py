"""Forwards in training mode that no backward reaches are an evaluation; those that one reaches late are not."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn, torch.nn.functional as F
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.1), nn.Linear(6, 3))
        def forward(self, x):
            GIVES
    torch.manual_seed(0)
    net, rows = Net(), torch.randn(48, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    def train(steps):
        for step in range(steps):
            optimizer.zero_grad()
            LOSS
            loss.backward()
            optimizer.step()
    def evaluate():
        right = 0
        for part in rows.split(8):
            out = net(part)
            right += 1
        return right
    train(3)
    BETWEEN
    train(3)
    AFTER
    print(net.head[0].weight.sum().item(), torch.rand(1).item())
    """
)
ONE = "loss = first(net(rows[:8])).square().mean()"
GIVES = "return self.head(x)"


def program(gives=GIVES, loss=ONE, between="evaluate()", after="pass"):
    text = PROGRAM.replace("GIVES", gives).replace("LOSS", loss).replace("BETWEEN", between).replace("AFTER", after)
    first = "first = lambda out: out[0] if isinstance(out, tuple) else getattr(out, 'scores', out)\n"
    return python("-c", first + text)


class ShimUnreachedPasses(unittest.TestCase):
    def told(self, **words):
        run = run_watched(program(**words))
        self.assertEqual(run.status, 0, run.err)
        forwards = run.main.of("event", "evaluation_forward")
        self.assertEqual({(row.value, row.aux) for row in forwards} - {(1.0, 1.0)}, set())
        return [row.step for row in forwards], run

    def test_they_are_an_evaluation_with_the_line_of_its_forwards(self):
        steps, run = self.told()
        self.assertEqual(steps, [3] * 6)
        sites = {row.site[1:] for row in run.main.of("event", "evaluation_forward")}
        line = program()[-1].split("\n").index("        out = net(part)") + 1
        self.assertEqual(sites, {(str(line), "evaluate")})
        began = program()[-1].split("\n").index("def evaluate():") + 1
        self.assertEqual([row.site[1:] for row in run.main.of("event", "evaluation_began")], [(str(began), "evaluate")])
        self.assertEqual(len(run.main.of("event", "evaluation_ended")), 1)
        self.assertEqual(run.main.of("quantity", "trained_rows"), [])

    def test_so_they_are_at_the_end_of_the_program_and_after_each_part_of_a_training(self):
        self.assertEqual(self.told(between="pass", after="evaluate()")[0], [6] * 6)
        self.assertEqual(self.told(after="evaluate()")[0], [3] * 6 + [6] * 6)

    def test_outputs_in_containers_are_followed(self):
        gives = "h = self.head(x); return h, {'again': [h * 2]}, None"
        self.assertEqual(self.told(gives=gives)[0], [3] * 6)

    def test_before_the_first_backward_they_are_none(self):
        self.assertEqual(self.told(between="pass")[0], [])

    def test_forwards_that_one_backward_reaches_together_are_none(self):
        loss = "loss = sum([first(net(part)) for part in rows.split(6)]).mean()"
        self.assertEqual(self.told(loss=loss, between="pass")[0], [])

    def test_a_part_of_an_output_that_backward_reaches_is_enough(self):
        gives = "h = self.head(x); return h.sum(), h * 2"
        loss = "loss = sum([net(part)[1].mean() for part in rows.split(6)])"
        self.assertEqual(self.told(gives=gives, loss=loss, between="pass")[0], [])

    def test_few_of_them_are_none(self):
        between = "for part in rows.split(16): net(part)"
        self.assertEqual(self.told(between=between)[0], [])

    def test_outputs_of_a_class_that_is_not_known_are_left_alone(self):
        gives = "return type('Out', (), {'scores': self.head(x)})()"
        self.assertEqual(self.told(gives=gives)[0], [])

    def test_the_program_ends_with_the_same_bits(self):
        for words in ({}, {"gives": "h = self.head(x); return h, {'again': [h * 2]}"}):
            self.assertEqual(run_watched(program(**words)).out, run_unwatched(program(**words)).out)


if __name__ == "__main__":
    unittest.main()
