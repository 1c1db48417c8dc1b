"""The plugin for pytest: tests that train with a fault fail, all others pass."""

import json
import os
import subprocess
import textwrap
import unittest

from support import BUILD, DLCHECK, SOURCE, TORCH_PYTHON, EndToEnd, environment

TESTS = textwrap.dedent(
    """
    import pytest, torch

    def train(clears=True):
        torch.manual_seed(0)
        x, y = torch.randn(64, 8), torch.randint(2, (64,))
        model = torch.nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(20):
            if clears:
                optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

    def test_healthy():
        train()

    def test_faulty():
        train(clears=False)

    def test_without_training():
        assert 1 + 1 == 2

    def test_that_fails_itself():
        train(clears=False)
        assert False, "its own failure"

    @pytest.mark.dlcheck(fail_on="note")
    def test_marked():
        train(clears=False)

    def test_a_part(dlcheck_watch):
        train(clears=False)  # not watched
        with dlcheck_watch() as watched:
            train()
        # None where the whole test is watched.
        assert watched.result is None or watched.result["coverage"]["steps"] == 20
    """
)


class PytestPlugin(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_torch()
        # pytest stands in the environment of the page tests, which has no torch.
        self.packages = next((BUILD / "pages/lib").glob("python3*/site-packages"), None)
        if self.packages is None or not (self.packages / "pytest").is_dir():
            self.skipTest("pytest is not installed; ci/test installs it")
        (self.folder / "test_training.py").write_text(TESTS)

    def pytest(self, *words):
        """{test: outcome}, and what was printed."""
        path = [SOURCE / "checks/observe/python", self.packages]
        process = subprocess.run(
            [TORCH_PYTHON, "-W", "ignore", "-m", "pytest", "-q", "-p", "dlcheck.pytest_plugin", "-p", "no:cacheprovider",
             "-rA", *words], cwd=self.folder, text=True, capture_output=True, check=False,
            env=environment(PYTHONPATH=os.pathsep.join(map(str, path)), PATH=f"{DLCHECK.parent}:{os.environ['PATH']}"),
        )  # fmt: skip
        lines = [line.split() for line in process.stdout.splitlines() if line.startswith(("PASSED ", "FAILED "))]
        return {words[1].rpartition("::")[2]: words[0] for words in lines}, process.stdout

    def test_only_marked_tests_are_watched_without_the_option(self):
        outcomes, text = self.pytest()
        failed = {name for name, outcome in outcomes.items() if outcome == "FAILED"}
        self.assertEqual(failed, {"test_that_fails_itself", "test_marked"}, text)
        self.assertEqual(len(outcomes), 6, text)

    def test_all_tests_are_watched_with_the_option(self):
        outcomes, text = self.pytest("--dlcheck", "--dlcheck-output", "seen")
        failed = {name for name, outcome in outcomes.items() if outcome == "FAILED"}
        self.assertEqual(failed, {"test_faulty", "test_that_fails_itself", "test_marked", "test_a_part"}, text)
        self.assertNotIn("not observed; use", text)
        self.assertIn("error: optimizer/stale_gradients:", text)
        self.assertIn("AssertionError: its own failure", text)
        result = json.loads((self.folder / "seen/test_training.py_test_faulty/result.json").read_text())
        self.assertEqual(result["coverage"]["steps"], 20)


if __name__ == "__main__":
    unittest.main()
