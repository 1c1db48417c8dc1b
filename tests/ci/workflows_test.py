"""What the workflows of .github call is there: scripts of ci/ and presets of CMake."""

import json
import os
import re
import unittest

from loading import CI

ROOT = CI.parent
WORKFLOWS = {path.name: path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml")}


class Workflows(unittest.TestCase):
    def test_every_script_can_be_run(self):
        scripts = {script for text in WORKFLOWS.values() for script in re.findall(r"\bci/[a-z-]+", text)}
        self.assertGreater(len(scripts), 2)
        for script in scripts:
            with self.subTest(script):
                self.assertTrue((ROOT / script).is_file())
                self.assertTrue(os.access(ROOT / script, os.X_OK) or script == "ci/setup")

    def test_every_preset_is_a_workflow_of_cmake(self):
        presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["workflowPresets"]}
        listed = re.findall(r"preset: \[(.*)\]", WORKFLOWS["tests.yml"])
        self.assertEqual(len(listed), 1)
        self.assertLessEqual({name.strip() for name in listed[0].split(",")}, presets)


if __name__ == "__main__":
    unittest.main()
