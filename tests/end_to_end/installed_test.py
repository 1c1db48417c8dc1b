"""An installed tree works from elsewhere, and users' models build against it with five lines of CMake."""

import shutil
import subprocess
import unittest

from support import BUILD, DIGITS, PROGRAMS, SOURCE, TORCH_PYTHON, EndToEnd, environment

MODELS = SOURCE / "fixtures" / "models"


class Installed(EndToEnd):
    @classmethod
    def setUpClass(cls):
        cls.tree = BUILD / "tests" / "installed"
        shutil.rmtree(cls.tree, ignore_errors=True)
        for command in (["cmake", "--install", BUILD, "--prefix", cls.tree],):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def tool(self, *words, **variables):
        return subprocess.run([self.tree / "bin" / "dlcheck", *map(str, words)], text=True,
                              capture_output=True, cwd=self.folder, env=environment(**variables),
                              check=False)

    def build_models(self):
        build = BUILD / "tests" / "models"
        for command in (["cmake", "-S", MODELS, "-B", build, f"-Ddlcheck_DIR={self.tree}/lib/cmake/dlcheck",
                         f"-DDLCHECK_PYTHON={TORCH_PYTHON}"],
                        ["cmake", "--build", build]):
            process = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        return build

    def test_the_tree_holds_no_path_of_the_checkout_that_it_needs(self):
        moved = self.folder / "moved"
        shutil.copytree(self.tree, moved, symlinks=True)
        process = subprocess.run([moved / "bin" / "dlcheck", "selftest"], capture_output=True)
        self.assertEqual(process.returncode, 0)
        self.assertFalse((moved / "share/dlcheck/python").is_symlink())

    def test_it_watches_a_python_program(self):
        self.require_torch()
        process = self.tool("run", "--output-dir", self.out, "--", TORCH_PYTHON,
                            PROGRAMS / "digits_plain.py", DIGITS)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(self.found(), [], process.stderr)  # but for those that a busy machine gives
        self.assertGreater(self.result()["exit"]["counts"]["passed"], 100)

    def test_a_users_healthy_model_passes_and_a_broken_one_is_named(self):
        self.require_trainer()
        build = self.build_models()
        data = self.tree / "share/dlcheck/fixtures/digits.h5"
        process = self.tool("check", "--output-dir", self.out, "--model", build / "libhealthy.so",
                            "--data", data)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(self.found(), [])
        process = self.tool("check", "--output-dir", self.out, "--model", build / "libbroken.so",
                            "--data", data)
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertEqual(self.result()["order"][0]["id"], "gradients/missing")
        places = self.check("gradients/missing")["findings"][0]["places"]
        self.assertEqual(sorted(place["thing"] for place in places),
                         ["trunk.bias", "trunk.weight"])


if __name__ == "__main__":
    unittest.main()
