"""Parts that a method of a module calls belong to that module, and what a loss that is a module looks up is nothing."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

FLOW = textwrap.dedent(
    """
    import torch, torch.nn as nn
    torch.manual_seed(0)
    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList(nn.Linear(2, 2) for _ in range(2))
        def log_prob(self, x):
            for part in self.parts:
                x = part(x)
            return -x.square().sum(1)
    flow = Flow()
    optimizer = torch.optim.SGD(OPTIMIZED.parameters(), lr=0.1)
    schedule = SCHEDULE
    for step in range(60):
        optimizer.zero_grad()
        (-flow.log_prob(torch.randn(8, 2)).mean()).backward()
        optimizer.step()
        schedule.step()
    """
)
COSINE, STEPS = "CosineAnnealingLR(optimizer, 60)", "StepLR(optimizer, 100)"
RESTARTS = "CosineAnnealingWarmRestarts(optimizer, 20)"
PADDED = textwrap.dedent(
    """
    import torch, torch.nn as nn
    torch.manual_seed(0)
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.see = nn.Embedding(9, 8), nn.MultiheadAttention(8, 2, batch_first=True)
            self.head = nn.Linear(8, 2)
        def forward(self, ids):
            words = self.table(ids)
            return self.head(self.see(words, words, words)[0].mean(1))
    net, loss = Reader(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        ids = torch.randint(1, 9, (8, 6)).masked_fill(torch.arange(6) > (torch.arange(8) % 4 + 1)[:, None], 0)
        loss(net(ids), ids[:, 0] % 2).backward()
        optimizer.step()
        optimizer.zero_grad()
    """
)
REPLACED = textwrap.dedent(
    """
    import torch, torch.nn as nn
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    def train(optimizer):
        for step in range(10):
            optimizer.zero_grad()
            net(torch.randn(8, 3)).square().mean().backward()
            optimizer.step()
    first = torch.optim.SGD(net.parameters(), lr=0.1)
    train(first)
    ORDER
    """
)


def trace_of(optimized="flow", schedule=COSINE):
    made = f"torch.optim.lr_scheduler.{schedule}"
    run = run_watched(python("-c", FLOW.replace("OPTIMIZED", optimized).replace("SCHEDULE", made)))
    assert run.status == 0, run.err
    return run.main


class Parts(unittest.TestCase):
    def parts_of_trained(self, optimized):
        things = trace_of(optimized).attributes.values()
        return [values for values in things if "part_of_trained" in values]

    def test_that_no_optimizer_has_say_that_their_module_is_trained(self):
        self.assertEqual(len(self.parts_of_trained("flow.parts[0]")), 1)

    def test_of_no_such_module_say_nothing(self):
        self.assertEqual(self.parts_of_trained("nn.Linear(2, 2)"), [])


class Replaced(unittest.TestCase):
    BUILD, HEAD = "second = torch.optim.SGD(net.parameters(), lr=0.1)", "net[2] = nn.Linear(4, 5)"

    def heads(self, *order):
        """By name of each head: its optimizer, and whether it got a gradient."""
        run = run_watched(python("-c", REPLACED.replace("ORDER", "; ".join(order))))
        self.assertEqual(run.status, 0, run.err)
        return {thing[-1]: (values.get("optimizer", ""), "gradient_seen" in values)
                for thing, values in run.main.attributes.items() if "2.weight" in thing[-1]}  # fmt: skip

    def test_layers_are_other_parameters_where_the_optimizer_was_built_before(self):
        heads = self.heads(self.BUILD, self.HEAD, "train(second)")
        self.assertEqual(heads["2.weight (2)"], ("", True))

    def test_layers_are_those_of_the_optimizer_that_was_built_after(self):
        heads = self.heads(self.HEAD, self.BUILD, "train(second)")
        self.assertEqual(heads["2.weight (2)"], ("optimizer#1/group#0", False))


class Lengths(unittest.TestCase):
    def test_of_a_schedule_without_an_end_are_those_before_its_first_change(self):
        (row,) = trace_of(schedule=STEPS).of("event", "scheduler")
        self.assertEqual((row.value, row.aux), (100, 2))
        (row,) = trace_of(schedule=COSINE).of("event", "scheduler")
        self.assertEqual((row.value, row.aux), (60, 1))

    def test_of_warm_restarts_are_those_of_the_first_cycle_and_their_moves_are_counted(self):
        trace = trace_of(schedule=RESTARTS)
        (row,) = trace.of("event", "scheduler")
        self.assertEqual((row.value, row.aux), (20, 3))
        moves = trace.of("event", "schedule")
        self.assertEqual((moves[0].step, moves[0].aux), (1, 1))


class Tokens(unittest.TestCase):
    def test_are_known_where_the_loss_is_a_module(self):
        run = run_watched(python("-c", PADDED))
        self.assertEqual(len(run.main.of("quantity", "weight_of_padding")), 1)


if __name__ == "__main__":
    unittest.main()
