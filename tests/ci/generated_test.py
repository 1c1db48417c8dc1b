"""Files that a script of ci/ generates are as it would write them now."""

import unittest

from loading import CI, script


class Generated(unittest.TestCase):
    def test_the_index_of_signals_is_fresh(self):
        index = script("generate_signal_index.py")
        self.assertEqual(index.TARGET.read_text(), index.generate(), "run ci/generate_signal_index.py")

    def test_every_signal_says_what_it_is(self):
        index = script("generate_signal_index.py")
        for header in sorted((CI.parent / "checks/signals").glob("*/*.h")):
            with self.subTest(signal=header.stem):
                self.assertGreater(len(index.summary(header.read_text())), 8)


if __name__ == "__main__":
    unittest.main()
