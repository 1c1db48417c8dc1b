"""The probe's writer where nothing can be written for a while; see trace_writer_test.cc."""

import pathlib
import resource
import sys
import tempfile
import unittest

from tests.observe.reading import SHIM

sys.path.insert(0, str(SHIM))
from dlcheck_shim.record import names  # noqa: E402
from dlcheck_shim.record.writer import BLOCK_BYTES, EVENT, HEADER, RECORD_BYTES, TraceWriter  # noqa: E402

MORE_THAN_A_BLOCK = 2 * BLOCK_BYTES // RECORD_BYTES


class Writer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dlcheck-test-")
        self.addCleanup(folder.cleanup)
        self.now = 1000
        self.writer = TraceWriter(folder.name, clock=lambda: self.now)
        self.files = pathlib.Path(folder.name)

    def put(self, count):
        for _ in range(count):
            self.writer.put(EVENT, names.EVENTS["backward"], 0, 0, 0, 0, 0, 0.0, 0.0)

    def put_without_descriptors(self, count):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
        try:
            self.put(count)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def written(self):
        return self.writer.records.size

    def test_it_tries_again_only_after_a_while(self):
        before = self.written()
        self.put_without_descriptors(MORE_THAN_A_BLOCK)
        self.put(1)
        self.assertEqual(self.written(), before)
        self.now += 110_000_000
        self.put(1)
        self.assertGreaterEqual(self.written(), before + (MORE_THAN_A_BLOCK + 2) * RECORD_BYTES)
        self.assertFalse(self.writer.quiet)

    def test_it_goes_quiet_once_eight_mebibytes_wait(self):
        self.put_without_descriptors((8 << 20) // RECORD_BYTES)
        self.assertTrue(self.writer.quiet)

    def test_it_writes_full_blocks_again_once_it_can(self):
        self.put_without_descriptors(MORE_THAN_A_BLOCK)
        self.now += 110_000_000
        self.put(1)
        before = self.written()
        self.put(BLOCK_BYTES // RECORD_BYTES)
        self.assertGreater(self.written(), before + BLOCK_BYTES - HEADER.size)


if __name__ == "__main__":
    unittest.main()
