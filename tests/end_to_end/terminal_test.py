"""The report on a terminal: its colors, and its width."""

import os
import pty
import re
import struct
import subprocess
import termios
import unittest
from fcntl import ioctl

from continuous_integration_test import Recorded
from support import DLCHECK, environment

CODES = re.compile("\x1b\\[[0-9;]*m")


class Terminal(Recorded):
    def on_terminal(self, *words, columns=80, **variables):
        """What a terminal shows of standard error, while standard output goes elsewhere."""
        leader, follower = pty.openpty()
        ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        given = {"TERM": "xterm", **variables}
        with subprocess.Popen([DLCHECK, *map(str, words)], stderr=follower, stdout=subprocess.PIPE, cwd=self.folder,
                              env={k: v for k, v in environment(**given).items() if k != "NO_COLOR" or v}):  # fmt: skip
            os.close(follower)
            shown = b""
            try:
                while part := os.read(leader, 65536):
                    shown += part
            except OSError:  # the other end is closed
                pass
        os.close(leader)
        return shown.decode().replace("\r\n", "\n")

    def report(self, *words, **keywords):
        return self.on_terminal("judge", self.trace, "--select", "optimizer", *words, **keywords)

    def test_is_in_color_and_the_same_without_the_codes(self):
        shown = self.report(columns=100)
        self.assertIn("\x1b[1;31merror\x1b[0m", shown)
        self.assertEqual(CODES.sub("", shown), self.judge(1))

    def test_has_no_colors_where_they_are_not_wanted(self):
        for words, variables in ([(), {"NO_COLOR": "1"}], [(), {"TERM": "dumb"}], [("--color", "never"), {}]):
            with self.subTest(words=words, variables=variables):
                self.assertNotIn("\x1b", self.report(*words, **variables))

    def test_has_no_codes_in_a_pipe_unless_asked(self):
        self.assertNotIn("\x1b", self.judge(1))
        self.assertIn("\x1b[1;31m", self.judge(1, "--color", "always", NO_COLOR="1"))

    def test_is_as_wide_as_the_terminal_up_to_a_hundred_columns(self):
        for columns, longest in ((60, 60), (80, 80), (200, 100)):
            with self.subTest(columns=columns):
                lines = CODES.sub("", self.report(columns=columns)).splitlines()
                text = [line for line in lines if not re.search(r"\S{40}", line) and "   " not in line.strip()]
                self.assertLessEqual(max(map(len, text)), longest, max(text, key=len))
                self.assertGreater(max(map(len, text)), longest - 20)

    def test_a_file_has_no_colors_and_its_usual_width(self):
        usual, shown = self.folder / "usual.txt", self.folder / "shown.txt"
        self.judge(1, "--report", f"text={usual}")
        self.report("--report", f"text={shown}", columns=60)
        self.assertEqual(shown.read_text(), usual.read_text())


if __name__ == "__main__":
    unittest.main()
