"""With --deep, a value that is not finite is followed to the operation that it came from; a program without
one is not run again for it."""

import subprocess
import textwrap
import unittest

from support import TORCH_PYTHON, EndToEnd

PROGRAM = textwrap.dedent(
    """
    import sys, torch, torch.nn as nn
    torch.manual_seed(3)
    class Gauge(nn.Module):
        def forward(self, x):
            return x.square().sum(1, keepdim=True).log()
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4, bias=False), Gauge(), nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(480, 4)
    y = x.sum(1, keepdim=True)
    if "broken" in sys.argv:
        x[[100, 103]] = 0
    for step in range(40):
        part = slice(step * 12, step * 12 + 12)
        optimizer.zero_grad()
        loss = (model[0].bias.data.zero_(), nn.functional.mse_loss(model(x[part]), y[part]))[1]
        loss.backward()
        if "careful" in sys.argv and not loss.isfinite():
            sys.exit("the loss is not finite")
        optimizer.step()
    """
)


class Replayed(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_torch()

    def found(self, *words, options=()):
        """The finding, or None; no other check is asked."""
        self.run_command(TORCH_PYTHON, "-c", PROGRAM, *words,
                         options=("--deep", "--select", "numerics/nonfinite_values", *options))  # fmt: skip
        findings = self.check("numerics/nonfinite_values")["findings"]
        return findings[0] if findings else None

    def test_the_operation_is_named_with_its_layer_line_and_samples(self):
        finding = self.found("broken")
        self.assertIn("A replay found that the origin is aten::log with inputs in [0, ", finding["message"])
        self.assertIn(", in layer 3, samples 4 and 7 of the batch.", finding["message"])
        self.assertEqual((finding["places"][0]["thing"], finding["places"][0]["line"]), ("3", 6))
        self.assertFalse(list(self.out.rglob("batch.pt")))

    def test_a_program_that_stops_by_itself_is_replayed_too(self):
        self.assertIn("is aten::log", self.found("broken", "careful")["message"])

    def test_a_healthy_program_is_not_run_again(self):
        self.assertIsNone(self.found())
        self.assertEqual([run["experiment"] for run in self.result()["runs"]], ["plain"])

    def test_the_batch_is_kept_where_asked_for(self):
        finding = self.found("broken", options=("--save-batch",))
        file = next(self.out.rglob("batch.pt"))
        self.assertIn(f"The batch is saved in {file}", finding["message"])
        code = (f"import torch; held = torch.load({str(file)!r}); (x,), (y,) = held['calls'][0]['args'], "
                "held['targets']; assert held['step'] == 8 and x.shape == (12, 4) and y.shape == (12, 1); "
                "assert (x == 0).all(1).nonzero().flatten().tolist() == [4, 7]")
        subprocess.run([TORCH_PYTHON, "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()
