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

    def crash(self, ending):
        """Attributes of a process that an exception ends, and what it printed."""
        run = run_watched(python("-c", TRAIN + textwrap.dedent(ending)))
        self.assertEqual(run.status, 1)
        return run.main.process, run.err

    def test_the_exception_that_ends_a_process_is_told_with_the_line_of_the_program(self):
        told, _ = self.crash("def look(x):\n    raise ValueError('3 is no class\\nand more')\nlook(1)")
        self.assertEqual(told["exception"], "ValueError: 3 is no class")
        self.assertEqual((told["exception_file"], told["exception_line"]), ("<string>", "12"))

    def test_an_exception_of_torch_is_told_at_the_line_that_called_torch(self):
        told, _ = self.crash("torch.ones(2) @ torch.ones(3)")
        self.assertTrue(told["exception"].startswith("RuntimeError: inconsistent tensor size"), told)
        self.assertEqual(told["exception_line"], "11")

    def test_no_code_of_the_program_is_run_to_print_its_exception(self):
        told, said = self.crash("""
            class Own(Exception):
                def __str__(self):
                    print("asked", file=__import__("sys").stderr)
                    return "own"
            raise Own(1)""")  # fmt: skip
        self.assertEqual((told["exception"], said.count("asked")), ("Own", 1))

    def test_a_process_that_no_exception_ends_tells_of_none(self):
        for ending in ("", "raise SystemExit(3)"):
            run = run_watched(python("-c", TRAIN + ending))
            self.assertNotIn("exception", run.main.process)


if __name__ == "__main__":
    unittest.main()
