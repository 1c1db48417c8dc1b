"""An experiment leaves the program's files as they are, and the program does not notice."""

import pathlib
import tempfile
import textwrap
import unittest

from tests.observe.reading import python, run_watched

PROGRAM = textwrap.dedent(
    """
    import glob, io, os, pathlib, shutil, sys, tempfile, torch
    os.chdir(sys.argv[1])
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    (model(torch.ones(1, 2)).sum()).backward()
    optimizer.step()

    state = model.state_dict()
    with open("model.pt", "wb") as file:
        torch.save(state, file)
    torch.save(state, pathlib.Path("model.tmp"))
    os.replace("model.tmp", "model.pt")
    torch.save(state, "new.pt")
    with open("log.csv", "a") as file:
        file.write("more")
    assert open("log.csv").read() == "old more"
    with open("fixed.bin", "r+b") as file:
        file.write(b"XY")
    assert pathlib.Path("fixed.bin").read_bytes() == b"XYcd"
    memory = io.BytesIO()
    torch.save(state, memory)
    memory.seek(0)
    assert torch.equal(torch.load(memory)["weight"], torch.load("model.pt")["weight"])
    assert os.path.exists("new.pt") and not os.path.exists("model.tmp")

    shutil.copy("new.pt", "best.pt")
    shutil.copy2("best.pt", "log.csv")
    os.remove("old.pt")
    assert not pathlib.Path("old.pt").exists()
    assert sorted(glob.glob("*.pt")) == ["best.pt", "model.pt", "new.pt"], os.listdir()
    os.rename("fixed.bin", "old.pt")
    shutil.rmtree("runs")
    assert not os.path.exists("runs/one.txt") and not os.path.isdir("runs")
    os.makedirs("runs")
    pathlib.Path("runs/two.txt").write_text("2")
    assert os.listdir("runs") == ["two.txt"]
    with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as file:
        file.write("whole")
    os.replace(file.name, "log.csv")
    assert open("log.csv").read() == "whole"
    with tempfile.TemporaryDirectory(dir=".") as folder:
        pathlib.Path(folder, "x").write_text("x")
    os.makedirs("deep/er")
    try:
        open("nowhere/x", "w")
    except FileNotFoundError:
        print("done")
    """
)


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(pathlib.Path(folder).rglob("*"))
    }


def fill(folder):
    (folder / "runs").mkdir()
    for name in ("model.pt", "old.pt", "runs/one.txt"):
        (folder / name).write_text("precious")
    (folder / "log.csv").write_text("old ")
    (folder / "fixed.bin").write_bytes(b"abcd")


class ShimArtifacts(unittest.TestCase):
    def run_in(self, experiment):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            fill(folder)
            before = tree(folder)
            run = run_watched(python("-c", PROGRAM, folder), experiment=experiment)
            self.assertEqual((run.status, run.out), (0, "done\n"), run.err)
            return before, tree(folder), run

    def test_an_experiment_leaves_the_tree_as_it_was(self):
        for experiment in ("same_seed", "reference"):
            before, after, run = self.run_in(experiment)
            self.assertEqual(before, after)
            redirected = run.main.process["redirected"]
            for name in ("model.pt", "log.csv", "new.pt", "fixed.bin"):
                self.assertIn("/" + name, redirected)

    def test_a_plain_run_writes_where_the_program_says(self):
        before, after, run = self.run_in("plain")
        self.assertNotEqual(before, after)
        self.assertEqual(after["log.csv"], b"whole")
        self.assertNotIn("redirected", run.main.process)


if __name__ == "__main__":
    unittest.main()
