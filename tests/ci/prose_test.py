"""What users read keeps to the rules that a program can check, and a text that breaks them is named."""

import subprocess
import sys
import unittest

from loading import CI, script

prose = script("prose")


def faults(text):
    return [fault for _, paragraph in prose.paragraphs(text) for sentence in prose.sentences(paragraph)
            for fault in prose.faults_of(sentence)]  # fmt: skip


class Prose(unittest.TestCase):
    def test_the_pages_of_the_project_have_no_fault(self):
        done = subprocess.run([sys.executable, CI / "prose"], capture_output=True, text=True)
        self.assertEqual(done.stdout, "prose: 0 faults\n")

    def test_a_long_sentence_is_named_with_its_words(self):
        self.assertEqual(faults("The " + "very " * 24 + "end."), ["26 words, at most 25"])
        self.assertEqual(faults("The " + "very " * 23 + "end."), [])

    def test_a_retired_word_is_named_with_the_one_in_its_place(self):
        self.assertEqual(faults("- **Why:** Gradients are cleared."), ["'cleared': say 'zeroed'"])
        self.assertEqual(faults("Gradients are zeroed."), [])

    def test_a_retired_name_is_found_in_code(self):
        text = "run(['--out', folder])\nMakeUninitialised(tensor)\n"
        self.assertEqual([(line, name) for line, name, _ in prose.retired_names(text)],
                         [(2, "initialised"), (1, "--out")])
        self.assertEqual(list(prose.retired_names("--output-dir x --nproc-per-node 2, otherwise")), [])

    def test_a_sentence_begins_with_its_subject(self):
        self.assertEqual(faults("All is well. Where it differs, look."), ["begins with 'Where'"])
        self.assertEqual(faults("Where does it differ?"), [])

    def test_code_and_tables_are_passed_over(self):
        self.assertEqual(faults("```\ncleared\n```\n| cleared | anew |\n    cleared\nRun `cleared`."), [])


if __name__ == "__main__":
    unittest.main()
