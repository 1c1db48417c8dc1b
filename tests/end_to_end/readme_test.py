"""Every command of README.md and of the guides works as it stands there, but for the two set-up commands.
The transcript of README.md is what dlcheck prints."""

import os
import re
import shutil
import subprocess
import unittest

from support import BUILD, DIGITS, PROGRAMS, SOURCE, TORCH_PYTHON, EndToEnd, environment

README = (SOURCE / "README.md").read_text()
# README.md first: its commands make the dlcheck-out that guides judge.
PAGES = [README, *(path.read_text() for path in sorted((SOURCE / "docs" / "guides").glob("*.md")))]
SET_UP = {"bash ci/quickstart", "bash ci/test"}


def commands():
    """Indented lines that start a program of ours or a set-up script."""
    return [line.strip() for page in PAGES for line in page.splitlines()
            if re.match(r"    (build/bin/|bash |torchrun )", line)]


def transcript():
    """The lines of the indented block that begins with a prompt."""
    block = re.search(r"(?m)^    \$ .*\n(?:(?:    .*)?\n)+", README).group(0)
    return [line[4:].rstrip() for line in block.rstrip().splitlines()]


def without_numbers(text):
    """Nor the heights of a curve."""
    return re.sub(r"\s+", " ", re.sub(r"\d[\d.e+-]*", "#", re.sub("[▁-█]+", "▁", text)))


class Readme(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()
        self.require_torch()
        source = (PROGRAMS / "digits_plain.py").read_text().replace("sys.argv[1]", repr(str(DIGITS)))
        (self.folder / "train.py").write_text(source)
        (self.folder / "build").symlink_to(BUILD)
        shutil.copy(SOURCE / "fixtures" / "data" / "digits.h5", self.folder)
        (self.folder / "reference").symlink_to(SOURCE / "reference")
        shutil.copy(BUILD / "tests" / "plugins" / "libhealthy.so", self.folder / "libnet.so")
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "python").symlink_to(TORCH_PYTHON)
        self.path = f"{programs}:{os.environ['PATH']}"

    def shell(self, line):
        # A virtual environment's Python finds its packages by the name that it is called by.
        line = re.sub(r"\bpython train", f"{TORCH_PYTHON} -W ignore train", line)
        line = re.sub(r"^torchrun", f"{TORCH_PYTHON} -W ignore -m torch.distributed.run", line)
        return subprocess.run(["bash", "-c", line], cwd=self.folder, text=True, check=False,
                              capture_output=True, env=environment(PATH=self.path))

    def test_the_two_set_up_commands_are_there(self):
        self.assertLessEqual(SET_UP, set(commands()))

    def test_every_other_command_exits_0_on_healthy_input(self):
        lines = [line for line in commands() if line not in SET_UP]
        self.assertGreaterEqual(len(lines), 15)
        for line in lines:
            with self.subTest(command=line):
                process = self.shell(line)
                self.assertEqual(process.returncode, 0, process.stdout + process.stderr)

    def test_the_transcript_is_what_is_printed(self):
        program = self.folder / "train.py"
        source = program.read_text()
        for old, new in (("    optimizer.zero_grad()\n", ""), ("lr=0.1, momentum=0.9", "lr=0.015")):
            self.assertEqual(source.count(old), 1)
            source = source.replace(old, new)
        program.write_text(re.sub(r"(?m)^assert.*\n?", "", source))
        prompt, *lines = transcript()
        process = self.shell("build/bin/" + prompt.removeprefix("$ "))
        self.assertEqual(process.returncode, 1, process.stderr)
        # What is said while the program runs depends on how long it takes.
        stderr = re.sub(r"(?m)^dlcheck  live: .*\n", "", process.stderr)
        self.assertEqual(without_numbers("\n".join(lines)),
                         without_numbers((process.stdout + stderr).rstrip()))


if __name__ == "__main__":
    unittest.main()
