"""A long set is run again where a file changed that it depends on, and where it failed."""

import pathlib
import tempfile
import unittest

from loading import script

nightly = script("nightly")


class Nightly(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dlcheck-test-")
        self.addCleanup(folder.cleanup)
        nightly.ROOT = pathlib.Path(folder.name)
        nightly.LOGS = nightly.ROOT / "logs"
        (nightly.ROOT / "code").mkdir()
        (nightly.ROOT / "code/one.cc").write_text("int x;")
        nightly.SETS = {"set": ("that it runs", "echo '=='; echo 3 of 3 found; echo ==; exit $(cat status)", ("code",))}

    def run_with(self, status):
        (nightly.ROOT / "status").write_text(str(status))
        return nightly.run("set")

    def test_its_last_words_and_its_status_are_kept(self):
        result = self.run_with(0)
        self.assertEqual((result["status"], result["result"]), (0, "3 of 3 found"))

    def test_it_is_fresh_until_a_file_changes_that_it_depends_on(self):
        results = {"set": self.run_with(0)}
        self.assertEqual(nightly.state_of("set", {}), "never run")
        self.assertEqual(nightly.state_of("set", results), "fresh")
        (nightly.ROOT / "other.cc").write_text("")
        self.assertEqual(nightly.state_of("set", results), "fresh")
        (nightly.ROOT / "code/two.cc").write_text("")
        self.assertEqual(nightly.state_of("set", results), "stale")

    def test_one_that_failed_is_not_fresh(self):
        self.assertEqual(nightly.state_of("set", {"set": self.run_with(1)}), "failed")

    def test_every_set_depends_on_files_that_exist(self):
        real = script("nightly")
        for name, (_, _, depends) in real.SETS.items():
            for path in depends:
                self.assertTrue((real.ROOT / path).exists(), f"{name}: {path}")


if __name__ == "__main__":
    unittest.main()
