"""`dlcheck.export` writes a dataset of Python as a file that `dlcheck-data` reads and the trainer trains on."""

import subprocess
import textwrap
import unittest

from support import BUILD, DLCHECK, SOURCE, TORCH_PYTHON, EndToEnd, environment

PROGRAM = textwrap.dedent(
    """
    import sys
    sys.path.insert(0, PACKAGE)
    import dlcheck, torch
    from torch.utils.data import Dataset, IterableDataset, TensorDataset
    torch.manual_seed(0)
    x = torch.randn(200, 6)
    """
)


class ExportedData(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_torch()
        self.require_trainer()

    def run_python(self, text):
        program = PROGRAM.replace("PACKAGE", repr(str(SOURCE / "checks/observe/python"))) + textwrap.dedent(text)
        path = {"PATH": f"{BUILD / 'bin'}:/usr/bin:/bin"}
        return subprocess.run([TORCH_PYTHON, "-W", "ignore", "-c", program], cwd=self.folder, env=environment() | path,
                              capture_output=True, text=True)  # fmt: skip

    def train(self, *words):
        return subprocess.run([BUILD / "bin/dlcheck-train", *words], cwd=self.folder, env=environment(),
                              capture_output=True, text=True)  # fmt: skip

    def test_classes_come_as_they_are(self):
        done = self.run_python(
            "print(dlcheck.export(TensorDataset(x, x[:, :3].argmax(1)), 'out.h5', val=0.25, test=0.25, name='mine'))"
        )
        line = "'out.h5': mine, 200 samples of 6 float32, 3 classes, train 100, val 50, test 50"
        self.assertEqual(done.stdout.strip(), line, done.stderr)
        told = subprocess.run([BUILD / "bin/dlcheck-data", "out.h5"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(told.stdout.strip(), line)
        trained = self.train("--data", "out.h5", "--steps", "200", "--batch-size", "25", "--optimizer", "adam")
        self.assertEqual(trained.returncode, 0, trained.stderr)
        self.assertGreater(float(trained.stdout.split("val accuracy ")[-1].split()[0]), 0.8)

    def test_numbers_are_trained_on_with_a_loss_of_numbers(self):
        self.run_python("dlcheck.export(TensorDataset(x, x[:, :2] * 2), 'out.h5')")
        refused = self.train("--data", "out.h5", "--steps", "10")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the targets of data are numbers: set loss to mse", refused.stderr)
        improbable = self.train("--data", "out.h5", "--steps", "10", "--loss", "bce")
        self.assertEqual(improbable.returncode, 2)
        self.assertRegex(improbable.stderr, "loss is bce, but data has a target of -[0-9.]+, which is no probability")
        trained = self.train("--data", "out.h5", "--steps", "300", "--batch-size", "40", "--loss", "mse",
                             "--optimizer", "adam", "--lr", "0.01")  # fmt: skip
        self.assertEqual(trained.returncode, 0, trained.stderr)
        self.assertNotIn("accuracy", trained.stdout)
        self.assertLess(float(trained.stdout.split("val loss ")[-1].split()[0]), 0.1)

    def test_datasets_of_every_shape_are_taken(self):
        done = self.run_python(
            """
            class Old(Dataset):
                def __len__(self): return 40
                def __getitem__(self, number): return x[number].half().reshape(1, 2, 3), number % 2
            class Endless(IterableDataset):
                def __iter__(self): return iter([(torch.tensor([i, 2 * i], dtype=torch.int16), float(i)) for i in range(30)])
            print(dlcheck.export(Old(), "old.h5"))
            print(dlcheck.export(Endless(), "numbers.h5"))
            """
        )
        old, numbers = done.stdout.splitlines()
        self.assertIn("old, 40 samples of 1x2x3 float32, 2 classes", old)
        self.assertIn("numbers, 30 samples of 2 int32, a number as target", numbers)

    def test_what_cannot_be_taken_is_named(self):
        def says(expression):
            done = self.run_python(f"dlcheck.export({expression}, 'out.h5')")
            self.assertEqual(done.returncode, 1)
            return done.stderr.splitlines()[-1]

        self.assertIn("TypeError: sample 0 is no pair of an input and a target: Tensor", says("x"))
        self.assertIn("TypeError: the target of sample 0 is no tensor and no number: str", says("[(x[0], 'cat')]"))
        shapes = says("[(x[0], 0), (x[0, :2], 1)]")
        self.assertIn("ValueError: the input of sample 1 is (2,), torch.float32", shapes)
        self.assertIn("the class -1", says("[(row, -1) for row in x]"))
        self.assertIn("not finite", says("[(row / 0, 1) for row in x]"))

    def test_data_without_a_program_are_learned_by_baselines(self):
        self.run_python("dlcheck.export(TensorDataset(x, x[:, :3].argmax(1)), 'out.h5')")
        process = subprocess.run([DLCHECK, "reference", "--data", "out.h5", "--steps", "100"], cwd=self.folder,
                                 env=environment(), capture_output=True, text=True)  # fmt: skip
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertNotIn("this program", process.stdout)
        self.assertIn("passed: The baseline ", process.stdout)
        self.assertTrue((self.folder / "dlcheck-out/reference.html").exists())


if __name__ == "__main__":
    unittest.main()
