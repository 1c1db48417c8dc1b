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
        command = "echo '=='; echo 3 of 3 found; echo ==; exit $(cat status)"
        nightly.SETS = {"set": nightly.Set("that it runs", command, ("code",), short="echo 1 of 1 found"),
                        "sum": nightly.Set("that it counts", "echo counted", ("code",), after=("set",))}  # fmt: skip

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

    def test_a_short_night_takes_a_share_which_a_whole_one_runs_again(self):
        results = {"set": nightly.run("set", {}, short=True)}
        self.assertEqual((results["set"]["result"], results["set"]["share"]), ("1 of 1 found", True))
        self.assertEqual(nightly.state_of("set", results, short=True), "fresh")
        self.assertEqual(nightly.state_of("set", results), "a share")
        self.assertTrue(nightly.run("sum", results)["share"])  # it counts what the share found
        self.assertFalse(nightly.run("sum", {"set": self.run_with(0)})["share"])

    def test_every_set_depends_on_files_that_exist_and_follows_what_it_counts(self):
        real = script("nightly")
        names = list(real.SETS)
        for name, chosen in real.SETS.items():
            for path in chosen.depends:
                self.assertTrue((real.ROOT / path).exists(), f"{name}: {path}")
            for other in chosen.after:
                self.assertLess(names.index(other), names.index(name))


if __name__ == "__main__":
    unittest.main()
