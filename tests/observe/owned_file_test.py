"""A file that only the probe appends to; see trace_writer_test.cc for its twin in C++."""

import os
import pathlib
import resource
import sys
import tempfile
import unittest

from tests.observe.reading import SHIM

sys.path.insert(0, str(SHIM))
from dlcheck_shim.record.owned_file import SPARE_BYTES, Changed, OwnedFile  # noqa: E402

AHEAD = 1 << 16


class OneFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dlcheck-test-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "records"
        self.file = OwnedFile(str(self.path))

    def append(self, data, ahead=0):
        self.file.size = self.file.append(data, ahead)

    def limit(self, size):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, (soft, hard))

    def test_holds_what_was_appended(self):
        self.append(b"one")
        self.append(b" two")
        self.assertEqual(self.path.read_bytes(), b"one two")

    def test_takes_space_ahead_and_gives_it_back(self):
        self.append(b"x" * 100, AHEAD)
        self.assertEqual(self.path.stat().st_size, 100 + AHEAD)
        reserved = self.file.reserved
        self.append(b"y" * 100, AHEAD)
        self.assertEqual(self.file.reserved, reserved, "there is room enough")
        self.append(b"z" * (AHEAD - SPARE_BYTES), AHEAD)
        self.assertGreater(self.file.reserved, reserved)
        self.file.give_back(self.file.size)
        self.assertEqual(self.path.stat().st_size, 200 + AHEAD - SPARE_BYTES)

    def test_takes_no_space_where_none_is_asked_for(self):
        self.append(b"x" * 100)
        self.assertEqual((self.file.reserved, self.path.stat().st_size), (0, 100))

    def test_is_written_up_to_the_limit_of_the_process_and_no_further(self):
        self.limit(AHEAD)
        self.append(b"x" * 100, 2 * AHEAD)
        self.assertEqual(self.file.reserved, AHEAD)
        self.append(b"y" * (AHEAD - 200), 2 * AHEAD)
        self.append(b"z" * 100, 2 * AHEAD)
        with self.assertRaisesRegex(OSError, "ulimit -f"):
            self.append(b"!")
        self.assertEqual(self.path.stat().st_size, AHEAD)

    def test_is_left_alone_once_it_was_replaced_cut_or_removed(self):
        self.append(b"x" * 100)
        os.truncate(self.path, 50)
        with self.assertRaisesRegex(Changed, "was cut"):
            self.append(b"y")
        self.path.unlink()
        with self.assertRaisesRegex(Changed, "No such file"):
            self.append(b"y")
        self.path.write_bytes(b"of another program" * 100)
        with self.assertRaisesRegex(Changed, "was replaced"):
            self.append(b"y")

    def test_is_made_once(self):
        with self.assertRaises(FileExistsError):
            OwnedFile(str(self.path))


if __name__ == "__main__":
    unittest.main()
