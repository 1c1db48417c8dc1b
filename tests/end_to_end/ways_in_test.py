"""The ways by which a Python program comes to be watched: from within itself, by `python -m
dlcheck.run`, as a module, by a launcher of ranks, by a shell script, in children it spawns, beside the
user's own start-up code; and the ones by which it does not."""

import os
import pathlib
import subprocess
import textwrap
import unittest

from support import DLCHECK, SOURCE, TORCH_PYTHON, EndToEnd, environment

PACKAGE = SOURCE / "checks/observe/python"

# A loop whose gradients are never cleared if FAULTY.
TRAIN = textwrap.dedent(
    """
    import sys, torch, torch.nn.functional as F

    def train(faulty, steps=40):
        torch.manual_seed(3)
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        x, y = torch.randn(48, 6), torch.randint(3, (48,))
        for _ in range(steps):
            if not faulty:
                optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        return loss.item()
    """
)
STALE = "optimizer/stale_gradients"


class WaysIn(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_torch()

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def python(self, *words, **variables):
        path = os.pathsep.join([str(DLCHECK.parent), os.environ["PATH"]])
        return self.dlcheck_free(TORCH_PYTHON, *words, PATH=path, **variables)

    def dlcheck_free(self, *words, **variables):
        return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              cwd=self.folder, env=environment(**variables), timeout=300)

    def findings(self):
        return [cause["id"] for cause in self.result()["order"]]

    def test_a_part_of_a_process_is_watched_and_judged_as_it_ends(self):
        program = TRAIN + textwrap.dedent(
            f"""
            sys.path.insert(0, {str(PACKAGE)!r})
            import dlcheck
            results = []
            for faulty in (False, True, False):
                train(True)  # not watched
                with dlcheck.watch(output_dir="out") as watched:
                    train(faulty)
                print(watched.exit_code, [f["id"] for f in watched.findings])
            try:
                with dlcheck.watch(output_dir="out", raises=True):
                    train(True)
            except dlcheck.FindingsError:
                print("raised")
            """
        )
        process = self.python(self.write("program.py", program))
        self.assertEqual(process.stdout.splitlines(), ["0 []", f"1 ['{STALE}']", "0 []", "raised"],
                         process.stderr)

    def test_what_the_program_raises_inside_a_watched_part_stays_its_own(self):
        program = TRAIN + textwrap.dedent(
            f"""
            sys.path.insert(0, {str(PACKAGE)!r})
            import dlcheck
            with dlcheck.watch(output_dir="out"):
                train(False)
                raise ZeroDivisionError("its own")
            """
        )
        process = self.python(self.write("program.py", program))
        self.assertEqual(process.returncode, 1)
        self.assertEqual(process.stderr.splitlines()[-1], "ZeroDivisionError: its own")

    def test_a_program_is_watched_through_the_module(self):
        self.write("program.py", TRAIN + "train(True)\nprint(sys.argv[1:])\n")
        process = self.python("-m", "dlcheck.run", "--output-dir", "out", "--", "program.py", "--its",
                              "own", PYTHONPATH=str(PACKAGE))  # fmt: skip
        self.assertIn("['--its', 'own']", process.stdout, process.stderr)
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertEqual(self.findings(), [STALE])

    def test_modules_scripts_and_children_are_watched(self):
        self.write("package.py", TRAIN + "if __name__ == '__main__':\n    train(True)\n")
        self.write("start.sh", 'cd / && cd "$1" && exec "$2" -m package\n')
        self.write("spawned.py", textwrap.dedent(
            """
            import torch.multiprocessing, package
            if __name__ == "__main__":
                torch.multiprocessing.spawn(package.train, nprocs=1)
            """
        ))  # fmt: skip
        self.write("package.py", self.folder.joinpath("package.py").read_text().replace(
            "def train(faulty, steps=40):\n", "def train(faulty, steps=40):\n    faulty = True\n"))
        self.write("executed.py", "exec(compile(open('package.py').read(), 'package.py', 'exec'))\n")
        for command in (
            [TORCH_PYTHON, "-m", "package"],
            ["bash", "start.sh", self.folder, TORCH_PYTHON],
            [TORCH_PYTHON, "spawned.py"],
            [TORCH_PYTHON, "executed.py"],
        ):
            with self.subTest(command=command):
                process = self.run_command(*command, PYTHONPATH=str(self.folder))
                self.assertEqual(process.returncode, 1, process.stderr)
                self.assertEqual(self.findings(), [STALE])

    def test_ranks_of_a_launcher_are_watched(self):
        self.write("ranked.py", TRAIN + textwrap.dedent(
            """
            import torch.distributed
            torch.distributed.init_process_group("gloo")
            train(True)
            torch.distributed.destroy_process_group()
            """
        ))  # fmt: skip
        launcher = pathlib.Path(TORCH_PYTHON).parent / "torchrun"
        if not launcher.exists():
            self.skipTest("this Python has no torchrun beside it")
        process = self.run_command(launcher, "--nproc_per_node", 2, "--master_port", 29617,
                                   "ranked.py")
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertEqual(self.findings(), [STALE])
        records = list((self.out / "runs/00-plain-0/records").glob("*.records"))
        self.assertEqual(len(records), 2)

    def test_the_users_own_start_up_code_runs_once(self):
        own = self.folder / "own"
        (own / "sitecustomize").mkdir(parents=True)
        (own / "sitecustomize/__init__.py").write_text("print('started')\n")
        self.write("program.py", TRAIN + "train(True)\n")
        process = self.run_command(TORCH_PYTHON, "program.py", PYTHONPATH=str(own))
        self.assertEqual(process.stdout, "started\n", process.stderr)
        self.assertEqual(self.findings(), [STALE])

    def test_a_process_that_stops_in_its_loop_is_judged_all_the_same(self):
        self.write("program.py", TRAIN.replace("optimizer.step()\n",
                                               "optimizer.step()\n"
                                               "        if _ == 30: sys.exit(0)\n", 1)
                   + "train(True)\n")  # fmt: skip
        process = self.run_command(TORCH_PYTHON, "program.py")
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertEqual(self.findings(), [STALE])

    def test_an_interpreter_that_ignores_the_environment_is_not_taken_for_clean(self):
        self.write("program.py", TRAIN + "train(True)\n")
        process = self.run_command(TORCH_PYTHON, "-I", "program.py")
        self.assertEqual(process.returncode, 5, process.stderr)
        self.assertIn("-I", process.stderr)


if __name__ == "__main__":
    unittest.main()
