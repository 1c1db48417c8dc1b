"""What surrounds a run: a digest of its source, its devices, the machine."""

import pathlib
import tempfile
import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import torch
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
    """
)


class ShimSurroundings(unittest.TestCase):
    def attributes(self, source):
        """Of a program in a file of a folder of its own."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "train.py")
            path.write_text(source)
            run = run_watched(python(str(path)))
        self.assertEqual(run.status, 0, run.err)
        return run.main.process

    def test_the_same_source_has_the_same_digest_in_any_folder(self):
        one, other = self.attributes(PROGRAM), self.attributes(PROGRAM)
        self.assertEqual(one["source"], other["source"])
        self.assertNotEqual(one["source"], self.attributes(PROGRAM + "# changed\n")["source"])
        self.assertEqual((one["devices"], one["threads"]), ("cpu", "1"))
        self.assertTrue(one["machine"])

    def test_a_program_without_a_file_has_no_digest(self):
        self.assertNotIn("source", run_watched(python("-c", PROGRAM)).main.process)


if __name__ == "__main__":
    unittest.main()
