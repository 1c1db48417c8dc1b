"""A parameter without gradient is reported at the line behind which values leave the graph."""

import json
import os
import textwrap
import unittest

from support import EndToEnd

PROGRAM = textwrap.dedent(
    """\
    import torch
    from torch import nn
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 2)
        def forward(self, x):
            h = (self.first(x) > 0.5).float()
            return self.last(h)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(12):
        optimizer.zero_grad()
        net(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()
    """
)


@unittest.skipUnless(os.environ.get("DLCHECK_TORCH_PYTHON"), "no Python with torch was found")
class GraphEnd(EndToEnd):
    def test_the_finding_names_the_call_whose_input_has_no_gradient(self):
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        self.dlcheck("run", "--output-dir", self.out, "--", os.environ["DLCHECK_TORCH_PYTHON"], program)
        result = json.loads((self.out / "result.json").read_text())
        found = next(check for check in result["checks"] if check["id"] == "gradients/missing")["findings"][0]
        self.assertEqual(found["places"][0]["line"], 9)
        self.assertIn("The output of first has a gradient, and the input of a layer", found["message"])


if __name__ == "__main__":
    unittest.main()
