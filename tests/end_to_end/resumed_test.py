"""A Python program is interrupted after it saved its state, and started again among the files it left."""

import subprocess
import sys
import textwrap
import unittest

from support import SOURCE, TORCH_PYTHON, EndToEnd, drawn_tests, environment

sys.path.append(str(SOURCE / "tests/programs"))
from watching import allows_layers, python  # noqa: E402

# Each test leaves something else out of what the program puts back.
PROGRAM = textwrap.dedent(
    """
    import os, random, sys, torch
    forgotten, file = sys.argv[1], sys.argv[2]
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))
    average = torch.optim.swa_utils.AveragedModel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 20)
    rows = torch.randn(96, 4)
    rows = torch.utils.data.TensorDataset(rows, rows.sum(1, keepdim=True))
    loader = torch.utils.data.DataLoader(rows, 8, shuffle=True)
    parts = {"model": model, "average": average, "optimizer": optimizer, "schedule": schedule}
    epoch = 0
    if os.path.exists(file) and "--fresh" not in sys.argv:
        held = torch.load(file)
        for name, part in parts.items():
            if name != forgotten:
                part.load_state_dict(held[name])
        if forgotten != "random":
            torch.set_rng_state(held["random"])
        epoch = held["epoch"]
        if forgotten == "buffers":
            model[1].reset_running_stats()
    while epoch < 3:
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            schedule.step()
            average.update_parameters(model)
        epoch += 1
        state = {name: part.state_dict() for name, part in parts.items()}
        torch.save(dict(state, random=torch.get_rng_state(), epoch=epoch), file)
    """
)
# Trains a teacher unless its file is there, then a student.
TAUGHT = textwrap.dedent(
    """
    import os, torch
    torch.manual_seed(0)
    x = torch.randn(64, 4)
    def learn(model, y, file):
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        for step in range(24):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    teacher, student = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    if os.path.exists("teacher.pt"):
        teacher.load_state_dict(torch.load("teacher.pt")["model"])
    else:
        learn(teacher, x.sum(1, keepdim=True), "teacher.pt")
    with torch.no_grad():
        wanted = teacher(x)
    learn(student, wanted, "student.pt")
    """
)
CHECK = "checkpoint/inexact_resume"


@unittest.skipUnless(allows_layers(), "this system lets no ordinary user mount an overlay")
@drawn_tests(6)
class Resumed(EndToEnd):
    def judge(self, forgotten, *words, file="state.pt", options=()):
        """What the check says; the program's own file is as the plain run left it."""
        home = self.folder / f"{forgotten}{len(words)}{len(options)}"
        home.mkdir()
        (home / "train.py").write_text(PROGRAM)
        command = [TORCH_PYTHON, "-W", "ignore", "train.py", forgotten, file, *words]
        subprocess.run(python(*command[3:]), cwd=home, env=environment(), capture_output=True, check=True)
        before = (home / file).read_bytes()
        (home / file).unlink()
        watched = self.run_command(*command, options=("--deep", "--select", CHECK, *options), cwd=home)
        self.assertIn(watched.returncode, (0, 5), watched.stderr)
        self.assertEqual((home / file).read_bytes(), before)
        return self.check(CHECK)

    def test_a_program_that_puts_all_back_passes(self):
        result = self.judge("nothing")
        self.assertEqual((result["outcome"], result["findings"]), ("passed", []))

    def test_each_part_that_is_forgotten_is_named_at_its_line(self):
        parts = {"optimizer": "exp_avg", "schedule": "schedule of Adam", "average": "averages of",
                 "buffers": "buffers of Sequential"}  # fmt: skip
        for forgotten, named in parts.items():
            (finding,) = self.judge(forgotten)["findings"]
            self.assertEqual(finding["severity"], "warning")
            self.assertIn(named, finding["message"])
            self.assertTrue([p for p in finding["places"] if p.get("file", "").endswith("train.py")])

    def test_other_random_numbers_are_a_note(self):
        (finding,) = self.judge("random")["findings"]
        self.assertEqual(finding["severity"], "note")
        self.assertIn("data/first batch", finding["message"])

    def test_a_program_that_begins_anew_is_not_judged_without_another_command(self):
        result = self.judge("optimizer", "--fresh")
        self.assertIn("--resume-command", result["reason"])
        again = f"{TORCH_PYTHON} -W ignore train.py optimizer state.pt"
        (finding,) = self.judge("optimizer", "--fresh", options=("--resume-command", again))["findings"]
        self.assertIn("exp_avg", finding["message"])

    def test_a_teacher_that_was_kept_is_no_run_to_go_on_with(self):
        (self.folder / "train.py").write_text(TAUGHT)
        self.run_command(TORCH_PYTHON, "-W", "ignore", "train.py", options=("--deep", "--select", CHECK))
        self.assertEqual(self.check(CHECK)["outcome"], "not_applicable")

    def test_the_same_seed_is_not_compared_where_the_program_changed_what_it_began_with(self):
        (self.folder / "train.py").write_text(PROGRAM.replace("while epoch < 3", "while epoch < 3 + first").replace(
            "while", "first = epoch\nwhile", 1))  # fmt: skip
        for outcome in ("passed", "not_applicable"):
            self.run_command(TORCH_PYTHON, "-W", "ignore", "train.py", "nothing", "state.pt",
                             options=("--deep", "--select", "reproducibility/nondeterministic_training"))  # fmt: skip
            self.assertEqual(self.check("reproducibility/nondeterministic_training")["outcome"], outcome)


if __name__ == "__main__":
    unittest.main()
