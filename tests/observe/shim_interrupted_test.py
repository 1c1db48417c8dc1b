"""A signal handler of the program may run inside of the probe's writer, and train or save there."""

import importlib
import pathlib
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

from tests.observe.reading import SHIM, ProcessTrace

sys.path.insert(0, str(SHIM))
writer = importlib.import_module("dlcheck_shim.record.writer")


class Interrupted(unittest.TestCase):
    def write(self, folder, calls_of_handler):
        """Ten records of one thread, whose fifth look at the clock is interrupted by these calls."""
        looks = []

        def clock():
            looks.append(1)
            if len(looks) == 5:
                for call in calls_of_handler:
                    call(made)
            return time.monotonic_ns()

        made = writer.TraceWriter(str(folder), clock=clock, process=7)
        for step in range(10):
            made.put(writer.QUANTITY, 1, step, 0, 0, 0, 0, 1.0, 0.0)
            made.end_step()
        made.close()

    def written(self, *calls_of_handler):
        """Steps of the records, and what is said to be missing."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            thread = threading.Thread(target=self.write, args=(folder, calls_of_handler), daemon=True)
            thread.start()
            thread.join(20)
            self.assertFalse(thread.is_alive(), "the writer waits for itself")
            losses = folder / "losses"
            trace = ProcessTrace(next(folder.glob("records/*.records")))
            return [row.step for row in trace.rows], losses.read_text() if losses.exists() else ""

    def test_it_waits_for_nobody_and_what_is_missed_is_told(self):
        steps, losses = self.written(
            lambda made: made.put(writer.QUANTITY, 1, 99, 0, 0, 0, 0, 1.0, 0.0),
            lambda made: made.attribute(0, "key", "value"),
            lambda made: made.thing("loss", 0, "new"),
            lambda made: made.end_step(),
            lambda made: made.flush(),
            lambda made: made.end(),
        )
        self.assertEqual(steps, list(range(10)))
        self.assertIn("3 calls of a signal handler that ran inside of dlcheck", losses)

    def test_one_that_calls_nothing_of_ours_costs_nothing(self):
        self.assertEqual(self.written(), (list(range(10)), ""))

    def test_an_end_that_is_not_the_last_word_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            made = writer.TraceWriter(folder, process=7)
            for step in range(10):
                made.put(writer.QUANTITY, 1, step, 0, 0, 0, 0, 1.0, 0.0)
            made.end()
            append = made.records.append  # the process goes on, and its next write fails
            fails_once = [writer.Changed("of another program"), mock.DEFAULT]
            with mock.patch.object(made.records, "append", side_effect=fails_once, wraps=append):
                made.write(writer.END)
            self.assertTrue(made.quiet)
            path = next(pathlib.Path(folder).glob("records/*.records"))
            self.assertEqual(path.stat().st_size, made.records.size)


if __name__ == "__main__":
    unittest.main()
