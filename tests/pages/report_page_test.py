"""The HTML pages in a real browser: nothing is asked for, nothing is wrong in the console, the keyboard reaches what
can be opened, and axe-core finds no violation, at the widths of a telephone and of a desk.

Needs Chromium, and playwright, axe-playwright-python and jsonschema in the Python that runs it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
    import xmlschema
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    MISSING = ""
except ImportError as error:
    MISSING = error.name

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
TESTS = pathlib.Path(os.environ["DLCHECK_BUILD"]) / "tests/diagnostics_test"
PAGES = ("small", "markup", "long", "large", "nothing", "nonfinite", "processes", "comparison", "samples")
WIDTHS = (360, 1600)


@unittest.skipIf(MISSING, f"no {MISSING} in this Python; ci/test installs it")
@unittest.skipUnless(CHROMIUM, "no Chromium is installed")
class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        environment = dict(os.environ, DLCHECK_PAGES=cls.folder)
        subprocess.run([TESTS, "--gtest_filter=Page.*:Samples.*:SeriesFile.*:Sarif.*:Junit.*:Gitlab.*"], cwd=ROOT, env=environment, check=True,
                       capture_output=True)  # fmt: skip
        playwright = cls.enterClassContext(sync_playwright())
        cls.browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        cls.addClassCleanup(cls.browser.close)

    def opened(self, name, width=1600, **options):
        context = self.browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.addCleanup(context.close)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(f"file://{self.folder}/{name}.html")
        return page

    def test_series_follow_their_schema(self):
        schema = json.loads((ROOT / "docs/series.schema.json").read_text())
        jsonschema.validate(json.loads(pathlib.Path(self.folder, "series.json").read_text()), schema)

    def test_sarif_follows_the_schema_of_the_standard(self):
        schema = pathlib.Path(sys.prefix, "sarif-2.1.0.json")
        if not schema.exists():
            self.skipTest("no schema of SARIF; ci/test takes it from npm's @microsoft/sarif-multitool-linux")
        written = json.loads(pathlib.Path(self.folder, "small.sarif").read_text())
        jsonschema.validate(written, json.loads(schema.read_text()))

    def test_junit_follows_its_strict_schema(self):
        schema = pathlib.Path(sys.prefix, "junit-10.xsd")
        if not schema.exists():
            self.skipTest("no schema of JUnit; ci/test takes it from the sources of pytest")
        self.assertEqual(list(xmlschema.XMLSchema(schema).iter_errors(f"{self.folder}/small.junit.xml")), [])

    def test_code_quality_follows_the_format_of_gitlab(self):
        schema = json.loads(pathlib.Path(__file__).with_name("gitlab-code-quality.schema.json").read_text())
        jsonschema.validate(json.loads(pathlib.Path(self.folder, "small.gitlab.json").read_text()), schema)

    def test_ask_for_no_other_file_and_leave_the_console_empty(self):
        for name in PAGES:
            page = self.opened(name)
            self.assertEqual(page.said, [], name)
            self.assertEqual(len(page.asked), 1, (name, page.asked))

    def test_pictures_of_samples_can_be_read_by_a_browser(self):
        sizes = self.opened("samples").evaluate("[...document.images].map(i => [i.naturalWidth, i.naturalHeight])")
        self.assertEqual(sizes, [[2, 2]])

    def test_have_their_sections_without_scripts(self):
        page = self.opened("small", java_script_enabled=False)
        for section in ("findings", "timeline", "layers", "not-judged", "run", "raw"):
            self.assertTrue(page.locator(f"section#{section}").is_visible(), section)
        self.assertTrue(page.locator("#finding-1 svg").first.is_visible())

    def test_are_no_wider_than_the_window(self):
        for name in PAGES:
            for width in WIDTHS:
                page = self.opened(name, width)
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width, (name, width))

    def test_have_no_violation_that_axe_knows(self):
        for name, scheme in [("small", "dark"), *((name, "light") for name in PAGES)]:
            found = Axe().run(self.opened(name, color_scheme=scheme))
            self.assertEqual(found.violations_count, 0, f"{name} {scheme}: {found.generate_report()}")

    def test_can_be_walked_by_keyboard(self):
        page = self.opened("small")
        reached = []
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.tagName + ' ' + document.activeElement.textContent"))
        self.assertIn("Skip to the findings", reached[0])
        for summary in page.locator("summary:visible").all():
            self.assertIn(f"SUMMARY {summary.text_content()}", reached)
        page.locator("#raw summary").focus()
        page.keyboard.press("Enter")
        self.assertTrue(page.locator("#raw pre").is_visible())

    def zoomable(self, name, **options):
        page = self.opened(name, **options)
        if page.locator("figure.zoomable").count() == 0:
            self.skipTest("built without uPlot; ci/setup takes it from npm")
        return page

    def test_plots_are_zoomed_together_by_steps(self):
        page = self.zoomable("small")
        self.assertGreater(page.locator(".u-legend").count(), 1)
        first = page.locator("#timeline .range input").nth(0)
        first.fill("3")
        first.press("Enter")
        ranges = page.evaluate("[...document.querySelectorAll('.range')].map(form => [...form.elements].map(e => e.value))")
        self.assertGreater(len(ranges), 1)
        self.assertEqual({fields[0] for fields in ranges}, {"3"})
        page.locator("#timeline .range button").focus()
        page.keyboard.press("Enter")
        self.assertEqual(page.locator("#step .range input").nth(0).input_value(), "0")

    def test_a_drawn_range_of_one_plot_moves_all_others(self):
        page = self.zoomable("small")
        page.locator("#timeline .u-over").first.scroll_into_view_if_needed()
        box = page.locator("#timeline .u-over").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 40, steps=5)
        page.mouse.up()
        self.assertGreater(int(page.locator("#step .range input").nth(0).input_value()), 0)

    def test_the_cursor_shows_the_values_of_all_plots(self):
        page = self.zoomable("small")
        page.locator("#timeline .u-over").first.scroll_into_view_if_needed()
        box = page.locator("#timeline .u-over").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
        shown = page.locator(".u-legend .u-series:first-child .u-value").all_text_contents()
        self.assertGreater(len(shown), 1)
        self.assertNotIn("--", shown)

    def test_the_drawings_stand_on_paper(self):
        page = self.zoomable("small")
        page.emulate_media(media="print")
        self.assertFalse(page.locator(".zoomed").first.is_visible())
        self.assertGreater(page.locator("#timeline svg").first.bounding_box()["height"], 100)

    def test_show_markup_of_strangers_as_text(self):
        page = self.opened("markup")
        self.assertEqual(page.locator("img, script:not(.dlcheck)").count(), 0)
        self.assertIn("<img src=x", page.locator("#finding-1").inner_text())


if __name__ == "__main__":
    unittest.main()
