"""An experiment that the program does not survive says what the program said last."""

import subprocess
import textwrap
import unittest

from support import DLCHECK, TORCH_PYTHON, EndToEnd

SPARSE = textwrap.dedent(
    """
    import torch
    torch.manual_seed(0)
    table, head = torch.nn.Embedding(20, 4, sparse=True), torch.nn.Linear(4, 3)
    model = torch.nn.Sequential(table, head)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(30):
        words = torch.randint(20, (8,))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(words), words % 3).backward()
        optimizer.step()
    """
)


class FailedExperiments(EndToEnd):
    def test_the_reason_ends_with_the_last_line_of_the_program(self):
        (self.folder / "train.py").write_text(SPARSE)
        process = subprocess.run(
            [DLCHECK, "run", "--deep", "--select", "learnability/cannot_overfit_one_batch", "--show-skipped", "--",
             TORCH_PYTHON, "train.py"],
            cwd=self.folder, capture_output=True, text=True, check=False)  # fmt: skip
        self.assertRegex(" ".join((process.stderr + process.stdout).split()),
                         r"failed in experiment '.*' \(status 1\): RuntimeError: .*sparse")


if __name__ == "__main__":
    unittest.main()
