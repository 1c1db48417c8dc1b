"""The commands of ci/examples are ones that dlcheck takes."""

import re
import shlex
import unittest

from support import SOURCE, EndToEnd

EXAMPLES = SOURCE / "ci" / "examples"


def options():
    """{file: options of its `dlcheck run`}, with the defaults of an action's inputs."""
    found = {}
    for path in sorted(EXAMPLES.rglob("*.y*ml")):
        text = re.sub(r"(?m)^\s*#.*\n", "", path.read_text())
        default = re.search(r"(?m)options:\n.*\n    default: (.*)", text)
        text = text.replace("${{ inputs.options }}", default.group(1) if default else "")
        found[path.name] = re.search(r"dlcheck run ((?:.|\n)*?)--(?: |\n)", text).group(1)
    return found


class Examples(EndToEnd):
    def test_every_example_runs_dlcheck_with_options_that_it_has(self):
        self.assertEqual(len(options()), 4)
        for name, words in options().items():
            with self.subTest(name):
                process = self.dlcheck("run", "--dry-run", *shlex.split(words), "--", "true")
                self.assertEqual(process.returncode, 0, process.stderr)


if __name__ == "__main__":
    unittest.main()
