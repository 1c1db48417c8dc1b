"""A new check gets its line in order, its id in the faults that it covers, and a name that may be one."""

import unittest

from loading import script

new_check = script("new-check")
TABLE = '// Sorted.\nDLCHECK_CHECK(data, Overlap, "data/overlap")\nDLCHECK_CHECK(model, Ties, "model/ties")\n'
ROWS = ("1 of the faults have at least one.\n"
        "| `one` | The first. | |\n| `two` | The second. | `model/ties` |\n")  # fmt: skip


class NewCheck(unittest.TestCase):
    def test_its_line_stands_in_order(self):
        lines = new_check.with_line(TABLE, "data", "same_order").splitlines()
        self.assertEqual(lines[0], "// Sorted.")
        self.assertEqual(lines[2], 'DLCHECK_CHECK(data, SameOrder, "data/same_order")')
        self.assertEqual(len(lines), 4)

    def test_a_fault_that_had_no_check_has_one_and_is_counted(self):
        text = new_check.with_count(new_check.with_id(ROWS, "one", "data/same_order"))
        self.assertIn("| `one` | The first. | `data/same_order` |", text)
        self.assertIn("2 of the faults", text)

    def test_a_fault_that_had_one_has_both(self):
        text = new_check.with_id(ROWS, "two", "data/same_order")
        self.assertIn("| `two` | The second. | `data/same_order`, `model/ties` |", text)

    def test_names_that_cannot_be_are_refused_with_the_reason(self):
        self.assertIn("no area 'optimizers'", new_check.wrong("optimizers", "x", []))
        self.assertIn("snake_case", new_check.wrong("optimizer", "StaleGradients", []))
        self.assertIn("already", new_check.wrong("optimizer", "stale_gradients", []))
        self.assertIn("no fault 'unheard-of'", new_check.wrong("optimizer", "fresh_fault", ["unheard-of"]))
        self.assertIsNone(new_check.wrong("optimizer", "fresh_fault", ["biased-sampler"]))

    def test_what_it_writes_is_no_check_yet(self):
        self.assertGreaterEqual(new_check.TEMPLATE.count("TODO"), 8)


if __name__ == "__main__":
    unittest.main()
