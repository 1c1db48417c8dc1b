"""Statistics are those of the numbers, whatever their type, layout and count."""

import math
import textwrap
import unittest

from tests.observe.reading import python, run_watched

# Gradients of one parameter are put in by hand; each test gives the parameter and its gradient.
PROGRAM = textwrap.dedent(
    """
    import torch
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 2)
    model.odd = torch.nn.Parameter(PARAMETER)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-30)
    for step in range(2):
        optimizer.zero_grad()
        (model(torch.ones(1, 2)).sum() + LOSS).backward()
        optimizer.step()
    """
)


def measured(parameter, loss):
    """The norm of the parameter's gradient in the first step."""
    run = run_watched(python("-c", PROGRAM.replace("PARAMETER", parameter).replace("LOSS", loss)))
    assert run.status == 0, run.err
    rows = run.main.of("quantity", "gradient_norm")
    return next((row.value for row in rows if row.thing[2] == "odd"), 0.0)


class Numbers(unittest.TestCase):
    def test_parameters_of_no_element_of_one_and_of_odd_numbers_are_measured(self):
        for shape, count in (("0", 0), ("()", 1), ("1", 1), ("1009", 1009), ("(3, 0)", 0)):
            found = measured(f"torch.ones({shape})", "(2 * model.odd).sum()")
            self.assertAlmostEqual(found, 2 * math.sqrt(count), places=4, msg=shape)

    def test_strided_half_and_sparse_numbers_are_measured_as_they_are(self):
        for parameter, expected in (
            ("torch.ones(6, 10)[::2, ::5]", 2 * math.sqrt(6)),
            ("torch.ones(4, dtype=torch.bfloat16)", 4.0),
            ("torch.ones(4, dtype=torch.float16)", 4.0),
            ("torch.ones(1, 2, 4, 4).contiguous(memory_format=torch.channels_last)", 2 * math.sqrt(32)),
            ("torch.ones(4, dtype=torch.float64)", 4.0),
        ):
            found = measured(parameter, "(2 * model.odd).sum().float()")
            self.assertAlmostEqual(found, expected, places=4, msg=parameter)
        sparse = "torch.nn.functional.embedding(torch.tensor([1, 1, 3]), model.odd, sparse=True).sum()"
        self.assertAlmostEqual(measured("torch.ones(5, 1)", sparse), math.sqrt(5), places=5)


if __name__ == "__main__":
    unittest.main()
