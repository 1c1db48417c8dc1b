"""The parts of a training's state are known by what they hold."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    made = torch.optim.lr_scheduler
    schedules = {
        "plateau": made.ReduceLROnPlateau(optimizer),
        "cosine": made.CosineAnnealingLR(optimizer, 4),
        "chain": made.SequentialLR(optimizer, [made.ConstantLR(optimizer), made.StepLR(optimizer, 2)], [1]),
    }
    for step in range(2):
        model(torch.ones(4, 3)).sum().backward()
        optimizer.step()
    for name, schedule in schedules.items():
        torch.save({"schedule": schedule.state_dict()}, name)
    torch.save({"best": 1.0, "last_epoch": 3}, "numbers")
    """
)


class ShimCheckpoints(unittest.TestCase):
    def test_schedules_of_every_kind_are_told_from_other_numbers(self):
        run = run_watched(python("-c", PROGRAM))
        self.assertEqual(run.status, 0, run.err)
        held = {thing[2]: said["contents"] for thing, said in run.main.attributes.items()
                if thing[0] == "file"}  # fmt: skip
        self.assertEqual(held, {"plateau": "scheduler", "cosine": "scheduler", "chain": "scheduler",
                                "numbers": "other"})  # fmt: skip


if __name__ == "__main__":
    unittest.main()
