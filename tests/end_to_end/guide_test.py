"""Each recipe of reference/GUIDE.md ends within the band that the guide shows."""

import json
import re
import sys
import unittest

from support import SOURCE, EndToEnd

sys.path.insert(0, str(SOURCE))
from tests.trainer_recipes import BANDS, GUIDE, RECIPES, curve_of  # noqa: E402

ROOM = 0.5  # of the width of a band of ten seeds, for the seeds that are not among them
SHARE = {"text": 0.05}  # more room, of the score: the text is of the Python of this machine
SEED = 11  # none of those of the band


class Guide(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()

    def ends_in_its_band(self, name):
        step, low, _, high = json.loads(BANDS.read_text())[name][-1]
        room = ROOM * (high - low) + SHARE.get(name, 0.01) * abs(high)
        curve = curve_of(name, SEED)
        self.assertEqual(curve[-1][0], step)
        self.assertTrue(low - room <= curve[-1][1] <= high + room, f"{curve[-1][1]} is not in {low} to {high}")

    def test_the_tables_are_those_that_were_measured(self):
        bands, guide = json.loads(BANDS.read_text()), GUIDE.read_text()
        self.assertEqual(list(bands), list(RECIPES))
        for name, points in bands.items():
            shown = re.search(rf"<!-- band of {name} -->\n(.*?)\n<!-- end -->", guide, re.DOTALL)[1].splitlines()[2:]
            self.assertEqual([line.split("|")[3].strip() for line in shown], [f"{point[2]:.4f}" for point in points])
            self.assertTrue((SOURCE / f"reference/curves/{name}.svg").exists())


for recipe in RECIPES:
    setattr(Guide, f"test_{recipe}_ends_in_its_band", lambda self, name=recipe: self.ends_in_its_band(name))


if __name__ == "__main__":
    unittest.main()
