"""Numbers that a program logs itself are recorded under its names."""

import textwrap
import unittest

from tests.observe.reading import SHIM, python, run_unwatched, run_watched

PROGRAM = textwrap.dedent(
    """
    import pathlib, sys, tempfile
    # A writer of the program's own making under the name of a package, with the signature of the real one.
    place = tempfile.TemporaryDirectory()
    package = pathlib.Path(place.name, "tensorboardX")
    package.mkdir()
    (package / "__init__.py").write_text("from .writer import SummaryWriter")
    (package / "writer.py").write_text(
        "class SummaryWriter:\\n"
        "    kept = []\\n"
        "    def add_scalar(self, tag, scalar_value, global_step=None):\\n"
        "        self.kept.append((tag, scalar_value, global_step))\\n"
        "        return len(self.kept)\\n")
    sys.path[:0] = [place.name, {shim!r}]
    import torch, dlcheck
    from tensorboardX import SummaryWriter
    class Odd:
        def __float__(self):
            raise RuntimeError("asked")
    writer = SummaryWriter()
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 3)).square().mean()
        loss.backward()
        optimizer.step()
        returned = writer.add_scalar("train/loss", loss, step)
        writer.add_scalar(tag="odd", scalar_value=Odd())
        dlcheck.log("accuracy", 0.5 + step)
        dlcheck.log(7, 1.0)
    print(returned, len(writer.kept))
    """
).format(shim=str(SHIM))


class ShimMetrics(unittest.TestCase):
    def test_they_are_recorded_and_the_program_is_left_alone(self):
        alone, watched = (run(python("-c", PROGRAM)) for run in (run_unwatched, run_watched))
        self.assertEqual((watched.status, watched.out), (0, alone.out), watched.err)
        rows = watched.main.of("quantity", "metric")
        self.assertEqual({row.thing[2] for row in rows}, {"train/loss", "accuracy"})
        self.assertEqual([row.value for row in rows if row.thing[2] == "accuracy"], [0.5, 1.5, 2.5])
        self.assertEqual([row.step for row in rows if row.thing[2] == "train/loss"], [1, 2, 3])
        self.assertNotIn("hook_failed/metric", watched.main.process)

    def test_a_program_that_logs_and_trains_nothing_leaves_no_records(self):
        source = f"import sys; sys.path.insert(0, {str(SHIM)!r}); import torch, dlcheck; dlcheck.log('a', 1.0)"
        run = run_watched(python("-c", source))
        self.assertEqual((run.status, run.traces), (0, []), run.err)


if __name__ == "__main__":
    unittest.main()
