"""Completions and the manual page say what the help of each command says."""

import re
import shutil
import subprocess
import unittest

from support import EndToEnd


class Generated(EndToEnd):
    def printed(self, *words):
        process = self.dlcheck(*words)
        self.assertEqual(process.returncode, 0, process.stderr)
        return process.stdout

    def options(self):
        """{command: its options}, as the help of each shows them."""
        commands = re.findall(r"(?m)^  (\w+) +\w", self.printed("--help").partition("Commands:\n")[2])
        self.assertGreater(len(commands), 10)
        return {command: set(re.findall(r"(?m)^  (--[\w-]+)", self.printed(command, "--help"))) for command in commands}

    def completed(self, script, *words):
        """What bash offers for the last of these words."""
        call = (f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _dlcheck; "
                'printf "%s\\n" "${COMPREPLY[@]}"')  # fmt: skip
        (self.folder / "script").write_text(script + call)
        process = subprocess.run(["bash", "script"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(process.stderr, "")
        return set(process.stdout.split())

    def test_bash_completes_commands_options_and_their_words(self):
        script = self.printed("completions", "bash")
        for command, options in self.options().items():
            with self.subTest(command):
                self.assertIn(command, self.completed(script, "dlcheck", command[:2]))
                self.assertEqual(self.completed(script, "dlcheck", command, "--"), options | {"--help"})
        self.assertEqual(self.completed(script, "dlcheck", "run", "--color", "a"), {"auto", "always"})

    def test_bash_completes_files_where_no_option_stands(self):
        (self.folder / "train.py").write_text("")
        self.assertEqual(self.completed(self.printed("completions", "bash"), "dlcheck", "run", "--", "tra"), {"train.py"})

    def test_fish_and_the_manual_name_every_option(self):
        fish, manual = self.printed("completions", "fish"), self.printed("manual").replace("\\-", "-")
        for command, options in self.options().items():
            lines = [line for line in fish.splitlines() if f"from {command}'" in line]
            page = re.search(rf"(?s)\.SS dlcheck {command}\b.*?(?=\n\.S)", manual).group(0)
            for option in options:
                with self.subTest(command=command, option=option):
                    self.assertTrue(any(f"-l {option[2:]} " in line for line in lines))
                    self.assertIn(f".B {option}", page)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_the_manual_has_no_fault_that_groff_knows(self):
        process = subprocess.run(["groff", "-man", "-ww", "-Tascii"], input=self.printed("manual"), text=True,
                                 capture_output=True, check=True)  # fmt: skip
        self.assertEqual(process.stderr, "")

    def test_a_shell_that_is_not_known_is_refused(self):
        self.assertEqual(self.dlcheck("completions", "csh").returncode, 2)


if __name__ == "__main__":
    unittest.main()
