"""In GitHub Actions, findings are annotated and the job gets a summary, without an option."""

import unittest

from continuous_integration_test import Recorded


class GithubActions(Recorded):
    def judged(self, *words, **variables):
        return self.dlcheck("judge", self.trace, *words, **variables).stderr

    def test_annotates_and_adds_to_the_summary_of_the_job(self):
        summary = self.folder / "summary.md"
        summary.write_text("Before.\n")
        said = self.judged(GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
        self.assertIn("::error ", said)
        self.assertIn("GITHUB_ACTIONS is set: findings are annotated, and added to the summary of the job", said)
        text = summary.read_text()
        self.assertTrue(text.startswith("Before.\n## dlcheck: exit 1\n"), text)
        self.assertIn("Fix: ", text)

    def test_annotates_once_where_the_user_asks_for_it_too(self):
        once = self.judged("--report", "github")
        both = self.judged("--report", "github", GITHUB_ACTIONS="true")
        self.assertEqual(both.count("::error "), once.count("::error "))

    def test_goes_on_where_the_summary_cannot_be_written(self):
        process = self.dlcheck("judge", self.trace, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY="/nowhere/summary.md")
        self.assertEqual(process.returncode, 1)
        self.assertIn("cannot write the summary to '/nowhere/summary.md'", process.stderr)

    def test_is_silent_elsewhere(self):
        self.assertNotIn("::error", self.judged())
        self.assertNotIn("GITHUB", self.judged(GITHUB_ACTIONS="false"))


if __name__ == "__main__":
    unittest.main()
