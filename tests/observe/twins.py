"""Two programs for a test: one with a fault in each of its parts, and its twin with none."""

import pathlib
import tempfile

from tests.observe.reading import python, run_watched


class Twins:
    """For a test case, which says what PROGRAM is, by which PARTS the two differ (name: what stands there in the
    faulty one and in its twin), and which QUANTITIES tell of the faults."""

    PROGRAM, PARTS, QUANTITIES = "", {}, ()

    @classmethod
    def setUpClass(cls):
        cls.runs = [cls.run_of(which) for which in (0, 1)]

    @classmethod
    def run_of(cls, which):
        """Of the faulty program, 0, or of its twin, 1."""
        text = cls.PROGRAM
        for name, parts in cls.PARTS.items():
            text = text.replace(name, parts[which])
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "program.py")
            file.write_text(text)
            return run_watched(python(file))

    def told(self, quantity, run=0):
        return [(row.value, row.aux) for row in self.runs[run].main.of("quantity", quantity)]

    def test_both_programs_run_to_their_end(self):
        self.assertEqual([(run.status, run.err) for run in self.runs], [(0, "")] * 2)

    def test_each_fault_is_told_and_the_twin_of_none(self):
        for quantity in self.QUANTITIES:
            with self.subTest(quantity=quantity):
                self.assertTrue(self.told(quantity))
                self.assertEqual(self.told(quantity, 1), [])
