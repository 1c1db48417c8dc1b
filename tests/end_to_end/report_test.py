"""`dlcheck report` of a folder whose series.json is damaged: the text stands, and no page is drawn from half the numbers."""

import unittest

from continuous_integration_test import Recorded


class Report(Recorded):
    def setUp(self):
        super().setUp()
        self.judge(1)
        self.out.mkdir()
        (self.out / "result.json").write_text(self.json.read_text())

    def test_shows_the_text_beside_damaged_series(self):
        (self.out / "series.json").write_text("{")
        process = self.dlcheck("report", self.out)
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertIn("optimizer/stale_gradients", process.stderr)

    def test_draws_no_page_from_damaged_series(self):
        (self.out / "series.json").write_text("{")
        page = self.folder / "page.html"
        process = self.dlcheck("report", self.out, "--report", f"html={page}")
        self.assertEqual(process.returncode, 2)
        self.assertIn("series.json is not a file of series", process.stderr)
        self.assertFalse(page.exists())

    def test_draws_a_page_where_no_series_were_kept(self):
        page = self.folder / "page.html"
        process = self.dlcheck("report", self.out, "--report", f"html={page}")
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertIn("zero_grad() is not called between steps", page.read_text())


if __name__ == "__main__":
    unittest.main()
