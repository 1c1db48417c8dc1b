"""Data files, models and flags that the trainer refuses: exit code 2, one line that names what and why, a
result that parses, and no child left."""

import os
import subprocess
import time
import unittest

from support import BUILD, SOURCE, EndToEnd

PLUGINS = BUILD / "tests" / "plugins"
NOBODY = 65534


class BadInput(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_trainer()

    def rejected(self, *words, named):
        process = self.dlcheck("check", "--output-dir", self.out, *words)
        self.assertEqual(process.returncode, 2, process.stderr)
        line = next(line for line in process.stderr.splitlines() if "input rejected" in line)
        for word in named:
            self.assertIn(str(word), line)
        self.assertEqual(self.result()["exit"], {**self.result()["exit"], "code": 2})
        left = subprocess.run(["pgrep", "-f", str(self.out)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(left.stdout, "", "a child was left")


class BadData(BadInput):
    def broken(self, kind):
        path = self.folder / f"{kind}.h5"
        subprocess.run([BUILD / "tests" / "break_fixture", kind, path], check=True)
        return path

    def test_a_file_that_is_not_there(self):
        self.rejected("--data", self.folder / "no.h5", named=["no.h5", "no such file"])

    def test_an_empty_file(self):
        (self.folder / "empty.h5").touch()
        self.rejected("--data", self.folder / "empty.h5", named=["empty.h5", "empty"])

    def test_a_file_that_is_no_hdf5(self):
        (self.folder / "text.h5").write_text("x,y\n1,2\n" * 1000)
        self.rejected("--data", self.folder / "text.h5", named=["text.h5", "HDF5"])

    def test_a_truncated_file(self):
        cut = self.folder / "cut.h5"
        cut.write_bytes((SOURCE / "fixtures" / "data" / "digits.h5").read_bytes()[:100_000])
        self.rejected("--data", cut, named=["cut.h5", "truncated"])

    def test_a_wrong_type(self):
        self.rejected("--data", self.broken("wrong_type"), named=["wrong_type.h5", "samples/x"])

    def test_a_wrong_rank(self):
        self.rejected("--data", self.broken("wrong_rank"), named=["wrong_rank.h5", "samples/x"])

    def test_images_and_labels_of_different_length(self):
        self.rejected("--data", self.broken("other_length"), named=["samples/y", "7", "8"])

    def test_a_label_out_of_range(self):
        self.rejected("--data", self.broken("label_out_of_range"), named=["samples/y", "2"])

    def test_a_nan_among_the_images(self):
        self.rejected("--data", self.broken("nan_in_x"), named=["samples/x", "row 2"])

    def test_an_empty_split(self):
        self.rejected("--data", self.broken("empty_split"), named=["splits/train", "empty"])

    def test_a_folder(self):
        self.rejected("--data", self.folder, named=[self.folder, "is a directory"])

    def test_a_file_without_permission(self):
        path = self.broken("empty_split")
        path.chmod(0)
        # The superuser may read every file, so another user tries.
        self.folder.chmod(0o777)
        self.user = NOBODY if os.geteuid() == 0 else None
        self.rejected("--data", path, named=["empty_split.h5", "Permission denied"])


class BadModels(BadInput):
    def test_a_file_that_is_no_library(self):
        (self.folder / "libtext.so").write_text("not a library")
        self.rejected("--model", self.folder / "libtext.so", named=["libtext.so"])

    def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for option in ("--model", "--data", "--recipe"):
            with self.subTest(option):
                begin = time.monotonic()
                self.rejected(option, pipe, named=["pipe", "regular file"])
                self.assertLess(time.monotonic() - begin, 20)

    def test_a_library_without_the_symbol(self):
        self.rejected("--model", PLUGINS / "libno_symbol.so", named=["libno_symbol.so", "DLCHECK_MODEL"])

    def test_a_model_that_throws_when_made(self):
        self.rejected("--model", PLUGINS / "libconstructor_throws.so",
                      named=["libconstructor_throws.so"])

    def test_a_model_with_outputs_of_the_wrong_shape(self):
        self.rejected("--model", PLUGINS / "libwrong_outputs.so", named=["libwrong_outputs.so"])

    def test_a_model_built_against_another_libtorch(self):
        self.rejected("--model", PLUGINS / "libother_libtorch.so", named=["1.0.0"])


class BadFlags(BadInput):
    def test_a_learning_rate_that_is_no_number(self):
        self.rejected("--lr", "nan", named=["lr"])

    def test_a_batch_of_nothing(self):
        self.rejected("--batch-size", "0", named=["batch-size"])

    def test_a_recipe_with_a_learning_rate_that_is_no_number(self):
        recipe = self.folder / "recipe.toml"
        recipe.write_text("lr = nan\n")
        self.rejected("--recipe", recipe, named=["recipe.toml", "lr"])

    def test_an_option_that_neither_knows(self):
        self.rejected("--learning-rat", "0.1", named=["--learning-rat"])

    def test_a_check_that_hangs_is_ended_at_its_deadline(self):
        process = self.dlcheck("check", "--output-dir", self.out, "--timeout", "1", "--steps", "100000000")
        self.assertEqual(process.returncode, 124, process.stderr)
        self.assertIn("exceeded its time limit", process.stderr)


if __name__ == "__main__":
    unittest.main()
