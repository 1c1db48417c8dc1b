"""Processes that end by none of Python's ways: what they recorded is whole, and where they go on all the same,
nothing is recorded twice."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

STEPS = 71  # the last three are not sampled
TRAIN = textwrap.dedent(
    f"""
    import os, torch
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    def train(steps):
        for step in range(steps):
            optimizer.zero_grad()
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
    train({STEPS})
    """
)


def steps_of(trace):
    return len(trace.of("event", "step")) + sum(row.value for row in trace.of("gap", "step"))


class ShimExits(unittest.TestCase):
    def test_steps_that_are_not_sampled_are_counted_where_os_exit_ends_the_process(self):
        run = run_watched(python("-c", TRAIN + "os._exit(0)"))
        self.assertEqual((run.status, steps_of(run.main)), (0, STEPS))

    def test_steps_are_counted_once_where_no_other_program_could_be_started(self):
        program = TRAIN + textwrap.dedent(
            """
            try:
                os.execv("/nowhere", ["nowhere"])
            except FileNotFoundError:
                train(10)
            """
        )
        run = run_watched(python("-c", program))
        self.assertEqual((run.status, steps_of(run.main)), (0, STEPS + 10))


if __name__ == "__main__":
    unittest.main()
