"""A replay names the operation from which a loss, gradient or weight stopped being finite, with its line,
module and samples; what is infinite on purpose is named only where the chain truly leads there."""

import textwrap
import unittest

from tests.observe.reading import python, run_watched

# Each test puts something else in the places in capitals; `at` is 1 in the step that is asked about.
PROGRAM = textwrap.dedent(
    """
    import math, torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    class Body(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter, self.leave = nn.Linear(4, 6), nn.Linear(6, 3)
        def forward(self, x, at):
            h = self.enter(x).relu() + 0.1
            scores = (h[:, :, None] * h[:, None]).masked_fill(torch.ones(6, 6).triu(1).bool(), -math.inf)
            h = h + scores.softmax(-1).sum(1)
            h = INSIDE
            return self.leave(h)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.ModuleList([Body()])
            BUILT
        def forward(self, x, at=0):
            return self.body[0](x, at)
    model = Net()
    optimizer = torch.optim.OPTIMIZER
    rows, labels = torch.randn(64, 4), torch.randint(0, 3, (64,))
    some = torch.zeros(8).bool()
    some[2] = some[5] = True
    pairs = torch.utils.data.TensorDataset(rows, labels)
    for step, (x, y) in enumerate(torch.utils.data.DataLoader(pairs, batch_size=8)):
        at = float(step == 5)
        DATA
        optimizer.zero_grad()
        outputs = model(x, at)
        loss = LOSS
        loss.backward()
        optimizer.step()
    """
)
SOUND = {"INSIDE": "h", "BUILT": "pass", "OPTIMIZER": "SGD(model.parameters(), lr=0.1)", "DATA": "pass",
         "LOSS": "F.cross_entropy(outputs, y)"}  # fmt: skip
STEP = 5


def trace_of(step=STEP, keywords=None, **places):
    source = PROGRAM
    for place, text in {**SOUND, **places}.items():
        source = source.replace(place, text)
    run = run_watched(python("-c", source), experiment="replay", end_step=step + 1, **(keywords or {}))
    assert run.status == 0, run.err
    return run.main


def replayed(**places):
    """(what is said of the birth, its record or None, attributes of the process)."""
    trace = trace_of(**places)
    row = next(iter(trace.of("quantity", "nonfinite_birth")), None)
    return trace.attributes.get(row.thing) if row else None, row, trace.process


class ShimReplay(unittest.TestCase):
    def born(self, name, samples=None, **places):
        """What is said of the birth, that has to be in the operation of this name."""
        said, row, process = replayed(**places)
        self.assertIsNotNone(said, process.get("unreplayed"))
        self.assertEqual((said["of"], row.thing[2]), ("operation", f"aten::{name}"))
        self.assertEqual(said.get("samples"), samples)
        return said, row

    def line_of(self, row, place):
        lines = PROGRAM.splitlines()
        return row.site[1] == str(next(i for i, line in enumerate(lines, 1) if place in line))

    def test_a_logarithm_of_zero_in_two_samples(self):
        inside = "h * (1 - at * some[:, None].float())"
        said, row = self.born("log", "2 and 5", INSIDE=f"h + ({inside}).mean(1, keepdim=True).log() * 0.1")
        self.assertEqual((said["module"], said["phase"]), ("body.0", "forward"))
        self.assertRegex(said["inputs"], r"^\[0, \d")
        self.assertEqual(said["path"], "log (body.0) > mul (body.0) > add (body.0) > addmm (body.0.leave) > "
                                       "_log_softmax (forward) > nll_loss_forward (forward)")  # fmt: skip
        self.assertTrue(self.line_of(row, "INSIDE"))
        self.assertEqual((row.step, row.value, row.aux), (STEP, 2, 8))

    def test_an_overflow_of_an_exponential(self):
        said, _ = self.born("exp", "all", LOSS="(outputs + at * 1e3).exp().log().square().mean()")
        self.assertNotIn("module", said)

    def test_an_overflow_in_half_precision(self):
        self.born("_to_copy", "2 and 5", INSIDE="(h + at * some[:, None] * 7e4).half().float()")
        with_autocast = "torch.autocast('cpu', torch.bfloat16).__enter__()"
        self.born("mul", "all", BUILT=with_autocast, INSIDE="h * (1 + at * 3e38) * (1 + at * 1e2)")

    def test_a_square_root_at_zero_whose_forward_is_finite(self):
        said, row = self.born("div", "2 and 5", INSIDE="(h * (1 - at * some[:, None].float())).sqrt()")
        self.assertEqual((said["phase"], said["behind"]), ("backward", "sqrt"))
        self.assertEqual((said["module"], said["reached"]), ("body.0", "body.0.enter.weight"))
        self.assertTrue(self.line_of(row, "INSIDE"))

    def test_zero_over_zero_in_a_loss_by_hand(self):
        each = "F.cross_entropy(outputs, y, reduction='none')"
        said, _ = self.born("div", LOSS=f"({each} * (1 - at)).sum() / (y >= 3 * at).sum()")
        self.assertEqual(said["inputs"], "[0, 0] and [0, 0]")

    def test_a_row_that_is_all_masked(self):
        all_masked = "h[:, None].expand(8, 6, 6).masked_fill((some & (at > 0))[:, None, None], -math.inf)"
        self.born("_softmax", "2 and 5", INSIDE=f"({all_masked}).softmax(-1).sum(1) + h")

    def test_data_and_parameters(self):
        said, row, _ = replayed(DATA="x = torch.tensor([[math.nan if at and i in (3, 7) else v for v in r]"
                                     " for i, r in enumerate(x.tolist())])")  # fmt: skip
        self.assertEqual((said["of"], said["samples"]), ("data", "3 and 7"))
        said, row, _ = replayed(step=0, BUILT="self.body[0].leave.bias.data = torch.tensor([0, math.nan, 0])")
        self.assertEqual((said["of"], row.thing[2]), ("parameter", "body.0.leave.bias"))

    def test_an_update(self):
        said, _ = self.born("addcdiv_", OPTIMIZER="Adam(model.parameters(), 0.1, eps=0., foreach=False)",
                            DATA="x = x * (step > 0)", step=0)  # fmt: skip
        self.assertEqual((said["phase"], said["reached"]), ("update", "body.0.enter.weight"))
        said, _ = self.born("_foreach_addcdiv_", DATA="x = x * (step > 0)", step=0,
                            OPTIMIZER="Adam(model.parameters(), 0.1, eps=0., foreach=True)")  # fmt: skip
        self.assertEqual(said["reached"], "body.0.enter.weight")

    def test_an_update_before_the_step_that_shows_it(self):
        said, row = self.born("addcdiv_", OPTIMIZER="Adam(model.parameters(), 0.1, eps=0., foreach=False)",
                              DATA="x = x * 0", step=1)  # fmt: skip
        self.assertEqual((said["phase"], row.step), ("update", 0))

    def test_what_the_program_put_in_itself_comes_last(self):
        said, row, _ = replayed(LOSS="F.cross_entropy(outputs.masked_fill(some[:, None] & (at > 0)"
                                     " & (torch.arange(3) == y[:, None]), -math.inf), y)")  # fmt: skip
        self.assertEqual((said["of"], row.thing[2]), ("constant", "aten::masked_fill"))
        self.assertEqual(said["samples"], "2 and 5")

    def test_says_that_nothing_was_met(self):
        said, _, process = replayed()
        self.assertIsNone(said)
        self.assertIn("had no non-finite value", process["unreplayed"])
        said, _, process = replayed(DATA="model.body[0].leave.bias.data += math.nan if step == 1 else 0")
        self.assertIn("the repeated run differed", process["unreplayed"])

    def test_recomputed_parts_and_closures(self):
        again = "torch.utils.checkpoint.checkpoint(lambda t: (t * (1 - at)).sqrt(), h, use_reentrant=False)"
        said, _ = self.born("div", "all", INSIDE=again)
        self.assertEqual((said["phase"], said["behind"], said["module"]), ("backward", "sqrt", "body.0"))
        said, _ = self.born("log", OPTIMIZER="LBFGS(model.parameters(), max_iter=2)",
                            LOSS="F.cross_entropy(outputs, y)\n"
                                 "    def close():\n"
                                 "        optimizer.zero_grad()\n"
                                 "        loss = (model(x).square().mean() * (1 - at)).log()\n"
                                 "        loss.backward()\n"
                                 "        return loss\n"
                                 "    optimizer.step(close)\n"
                                 "    continue")  # fmt: skip
        self.assertEqual(said["phase"], "forward")

    def test_the_batch_is_kept_where_asked_for(self):
        log = "h + (h * (1 - at)).log() * 0.1"
        self.assertNotIn("kept_batch", replayed(INSIDE=log)[2])
        self.assertIn("kept_batch", replayed(INSIDE=log, keywords={"keep_batch": 1})[2])


if __name__ == "__main__":
    unittest.main()
