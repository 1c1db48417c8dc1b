"""`dlcheck init`: what it writes is read again, with every setting in force."""

import re
import unittest

from support import PROGRAMS, EndToEnd


class Init(EndToEnd):
    def init(self, code=0):
        process = self.dlcheck("init")
        self.assertEqual(process.returncode, code, process.stderr)
        return process.stdout + process.stderr

    def dry_run(self, code):
        process = self.dlcheck("run", "--dry-run", "--", "true")
        self.assertEqual(process.returncode, code, process.stderr)
        return process.stderr

    def test_the_file_is_accepted_as_it_is_and_with_each_setting_uncommented(self):
        self.init()
        self.dry_run(0)
        file = self.folder / "dlcheck.toml"
        text, count = re.subn(r"(?m)^#(?=[a-z\[])", "", file.read_text())
        self.assertGreater(count, 18)
        self.dlcheck("accept")
        file.write_text(text.replace("baseline =", "#baseline ="))  # there is none yet
        self.dry_run(0)
        file.write_text(text.replace("fail_on", "fail_onn"))
        self.assertIn("did you mean 'fail_on'?", self.dry_run(2))

    def test_programs_that_train_are_named_and_lines_that_show_an_intention(self):
        (self.folder / "deep").mkdir()
        (self.folder / "deep/train.py").write_text((PROGRAMS / "digits_plain.py").read_text() +
                                                   "torch.nn.utils.clip_grad_norm_([], 1)\n")  # fmt: skip
        (self.folder / "helper.py").write_text("print(1)\n")
        (self.folder / ".venv").mkdir()
        (self.folder / ".venv/other.py").write_text("import sys; sys.argv; loss.backward()\n")
        text = self.init()
        self.assertEqual(re.findall("dlcheck run -- python (.*)", text), ["deep/train.py"])
        self.assertRegex((self.folder / "dlcheck.toml").read_text(), r"#clip = .*see deep/train.py:\d+")

    def test_a_file_that_is_there_stays(self):
        file = self.folder / "dlcheck.toml"
        file.write_text("mine")
        self.assertIn("there is a dlcheck.toml already", self.init(2))
        self.assertEqual(file.read_text(), "mine")

    def test_an_empty_folder_is_told_how_to_begin(self):
        self.assertIn("dlcheck run -- python train.py", self.init())


if __name__ == "__main__":
    unittest.main()
