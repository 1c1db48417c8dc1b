"""What training drew after the program set its seed: the same where it sets it again, nothing where it puts
the state back, draws nothing, or has a generator of its own."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch, torch.nn as nn
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for epoch in range(4):
        BEGIN
        for batch in range(5):
            optimizer.zero_grad()
            net(torch.ones(4, 3)).mean().backward()
            optimizer.step()
        EVALUATE
    """
)


def seeded(begin="pass", evaluate="pass", of=PROGRAM):
    return of.replace("BEGIN", begin).replace("EVALUATE", evaluate)


def states(*places, **named):
    """By step, the digest that is written; and the line of each call that set the seed."""
    run = run_watched(python("-c", seeded(*places, **named)))
    assert run.status == 0, run.err
    rows = list(run.main.of("quantity", "drawn_state"))
    return {row.step: (row.value, row.aux) for row in rows}, {row.site[1] for row in rows}


class ShimReseeding(unittest.TestCase):
    def test_the_same_seed_again_draws_the_same(self):
        found, lines = states("torch.manual_seed(3)")
        self.assertEqual(list(found), [0, 5, 10, 15])
        self.assertEqual(len(set(found.values())), 1)
        self.assertEqual(lines, {"7"})

    def test_a_seed_between_backward_and_step_says_what_the_next_step_draws(self):
        between = PROGRAM.replace("optimizer.step()", "torch.manual_seed(3); optimizer.step()")
        found, lines = states(of=between)
        self.assertEqual(list(found), list(range(20)))
        self.assertEqual(len(set(list(found.values())[1:])), 1)
        self.assertEqual(len(lines), 2)  # the first step is that of the seed before the loop

    def test_a_seed_at_each_backward_repeats_what_an_epoch_draws_first_also_in_steps_that_are_not_sampled(self):
        order = PROGRAM.replace("nn.Dropout(0.5)", "nn.ReLU()").replace("range(5)", "range(60)")
        at_each = order.replace(".backward()", ".backward(); torch.manual_seed(3)")
        found, _ = states("torch.randperm(9)", of=at_each)
        self.assertEqual(list(found), [0, 60, 120, 180])
        self.assertEqual(len(set(list(found.values())[1:])), 1)

    def test_another_seed_in_every_epoch_draws_other_numbers(self):
        found, _ = states("torch.random.manual_seed(epoch)")
        self.assertEqual(len(set(found.values())), 4)

    def test_an_evaluation_that_puts_the_state_back_leaves_no_trace(self):
        kept = "kept = torch.get_rng_state(); torch.manual_seed(3); torch.rand(2); torch.set_rng_state(kept)"
        self.assertEqual(list(states(evaluate=kept)[0]), [0])
        forked = "exec('with torch.random.fork_rng():\\n torch.manual_seed(3)\\n torch.rand(2)')"
        self.assertEqual(list(states(evaluate=forked)[0]), [0])

    def test_steps_that_draw_nothing_leave_no_trace(self):
        found, _ = states("torch.manual_seed(3)", of=PROGRAM.replace("nn.Dropout(0.5)", "nn.ReLU()"))
        self.assertEqual(list(found), [])

    def test_generators_of_the_programs_own_leave_no_trace(self):
        own = "g = torch.Generator().manual_seed(3); torch.rand(2, generator=g)"
        self.assertEqual(list(states(own)[0]), [0])


if __name__ == "__main__":
    unittest.main()
