"""Momentum that a fused SGD makes in a step that the scaler skips is told where it is not zero, and else nothing is."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

# Weights of a size that was in use before, so that what is allocated for them is not zero.
PROGRAM = textwrap.dedent(
    """
    import torch
    torch.manual_seed(0)
    model = torch.nn.Linear(16, 16, bias=False)
    used = [torch.full((16, 16), 7.0) for _ in range(64)]
    del used
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, OPTIONS)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    for step in range(4):
        optimizer.zero_grad()
        loss = model(torch.randn(8, 16)).square().mean() * (float("inf") if step == OVERFLOWS else 1)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print(scaler.get_scale(), model.weight.tolist())
    """
)


def run(options="momentum=0.9, fused=True", overflows=0):
    return run_watched(python("-c", program(options, overflows)))


def program(options, overflows):
    return PROGRAM.replace("OPTIONS", options).replace("OVERFLOWS", str(overflows))


class UninitializedMomentum(unittest.TestCase):
    def told(self, *given):
        watched = run(*given)
        self.assertEqual(watched.status, 0, watched.err)
        return [(row.step, row.aux) for row in watched.main.of("quantity", "uninitialized_momentum")]

    def test_that_a_skipped_step_made_is_told_before_the_next_step(self):
        self.assertEqual(self.told(), [(1, 256.0)])

    def test_is_not_told_of_where_a_step_was_taken_first_or_where_nothing_is_fused(self):
        self.assertEqual(self.told("momentum=0.9, fused=True", 2), [])
        self.assertEqual(self.told("momentum=0.9, foreach=True"), [])
        self.assertEqual(self.told("momentum=0, fused=True"), [])

    def test_of_a_program_is_left_alone(self):  # where it is written: what memory holds is chance
        words = python("-c", program("momentum=0.9, fused=True", 2))
        self.assertEqual(run_watched(words).out, run_unwatched(words).out)


if __name__ == "__main__":
    unittest.main()
