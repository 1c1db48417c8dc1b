"""C++ programs that know nothing of dlcheck are watched as they are: what they print stays the same, healthy
ones are quiet, and faults are named with the line of the call."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "programs"))
from drawing import drawn  # noqa: E402
from unchanged_cases import FAULTS, NOTED, SILENT  # noqa: E402
from watching import allows_layers  # noqa: E402

BUILD = Path(os.environ.get("DLCHECK_BUILD", Path(__file__).parents[2] / "build"))
PROGRAM = BUILD / "tests" / "programs_cpp" / "unchanged_programs"
SOURCES = Path(__file__).parent / "unchanged"


def programs():
    return subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout.split()


def run(folder, *words, watched=True):
    out = Path(folder) / "out"
    before = [BUILD / "bin" / "dlcheck", "run", "--output-dir", out, "--exit-code", "program", "--"] if watched else []
    done = subprocess.run([*before, PROGRAM, *words], capture_output=True, text=True, check=False, cwd=folder,
                          env=dict(os.environ, TMPDIR=str(folder)))
    result = json.loads((out / "result.json").read_text()) if watched else None
    return done, result


@unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
class Unchanged(unittest.TestCase):
    def test_print_the_same_and_healthy_ones_are_quiet(self):
        for name in drawn(programs(), 3):
            with self.subTest(program=name), tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
                alone, _ = run(one, name, watched=False)
                watched, result = run(other, name)
                self.assertEqual((watched.returncode, watched.stdout), (alone.returncode, alone.stdout))
                loud = [check["id"] for check in result["checks"] for finding in check["findings"]
                        if finding["severity"] != "note"]
                self.assertEqual(loud, [], watched.stderr)
                self.assertGreater(result["coverage"]["steps"], 10)
                self.assertGreaterEqual(result["exit"]["counts"]["passed"], 15)

    def test_what_looks_like_a_fault_is_not_even_noted(self):
        for name, check in SILENT.items():
            with self.subTest(program=name), tempfile.TemporaryDirectory() as folder:
                watched, result = run(folder, name)
                found = [found["outcome"] for found in result["checks"] if found["id"] == check]
                self.assertEqual(found, ["passed"], watched.stderr)

    def test_faults_are_named_first_with_the_line(self):
        for (name, fault), (check, *expected) in drawn(list(FAULTS.items()), 3):
            with self.subTest(program=name, fault=fault), tempfile.TemporaryDirectory() as folder:
                watched, result = run(folder, name, fault)
                self.assertEqual(result["order"][0]["id"], check, watched.stderr)
                self.has_lines(result, check, expected, watched)

    def test_faults_that_may_be_meant_are_noted_with_the_line(self):
        for (name, fault), (check, *expected) in drawn(list(NOTED.items()), 3):
            with self.subTest(program=name, fault=fault), tempfile.TemporaryDirectory() as folder:
                watched, result = run(folder, name, fault)
                self.assertIn(check, [found["id"] for found in result["checks"] if found["findings"]], watched.stderr)
                self.has_lines(result, check, expected, watched)

    def has_lines(self, result, check, expected, watched):
        findings = [finding for found in result["checks"] if found["id"] == check for finding in found["findings"]]
        places = [place for finding in findings for place in finding["places"]]
        lines = {(SOURCES / Path(place["file"]).name).read_text().split("\n")[place["line"] - 1].strip()
                 for place in places if place.get("line")}
        self.assertEqual(lines, set(expected), watched.stderr)
        for finding in findings:
            self.assertNotRegex(finding["fix"], r"torch\.[a-z]|model\.(eval|train)\(")


class StartedAgain(unittest.TestCase):
    """A program that goes on from its files: `--deep` interrupts it and starts it again."""

    FORGOTTEN = {"optimizer_not_loaded": "exp_avg of torch::optim::Adam", "statistics_reset": "buffers of NetImpl",
                 "rate_set_anew": "rates of torch::optim::Adam", "head_drawn_anew": "weights of torch::optim::Adam"}

    def resumed(self, *fault, **variables):
        """What the check says of the program, the files that it leaves, the report, and the runs that began."""
        with tempfile.TemporaryDirectory() as folder:
            work, out = Path(folder) / "work", Path(folder) / "out"
            work.mkdir()
            done = subprocess.run([BUILD / "bin" / "dlcheck", "run", "--deep", "--select", "checkpoint/inexact_resume",
                                   "--output-dir", out, "--", PROGRAM, "goes_on", *fault], capture_output=True,
                                  text=True, check=False, cwd=work, env={**os.environ, **variables})  # fmt: skip
            (check,) = (c for c in json.loads((out / "result.json").read_text())["checks"]
                        if c["id"] == "checkpoint/inexact_resume")
            began = {path.parent.parent.name for path in out.glob("runs/*/records/*")}
            return check, {path.name for path in work.iterdir()}, done.stderr, began

    def setUp(self):
        if not PROGRAM.exists() or not allows_layers():
            self.skipTest("no LibTorch, or no files of its own for an experiment")

    def test_nothing_is_found_where_all_comes_back(self):
        check, files, text, began = self.resumed()
        self.assertEqual(began, {"00-plain-0", "01-interrupted-0", "02-resumed-0"})
        self.assertEqual((check["outcome"], check["findings"]), ("passed", []), text)
        self.assertEqual(files, {"epoch.txt", "net.pt", "optimizer.pt"})

    def test_no_experiment_starts_where_it_would_write_over_the_files_of_the_program(self):
        failing = {"LD_PRELOAD": str(BUILD / "tests/libfailing_call.so"), "FAIL_IN": "dlcheck", "FAIL_CALLS": "unshare",
                   "FAIL_AT": "1", "FAIL_ALWAYS": "1"}  # fmt: skip
        check, _, text, began = self.resumed(**failing)
        self.assertEqual((check["outcome"], began), ("not_applicable", {"00-plain-0"}), text)

    def test_the_part_that_does_not_come_back_is_named_with_the_line_that_loads(self):
        source = (SOURCES / "goes_on.cc").read_text().split("\n")
        for fault, part in self.FORGOTTEN.items():
            with self.subTest(fault):
                check, _, text, _ = self.resumed(fault)
                (finding,) = check["findings"]
                self.assertEqual(finding["severity"], "warning")
                self.assertIn(part, [place.get("thing") for place in finding["places"]], text)
                lines = {source[place["line"] - 1].strip() for place in finding["places"] if place.get("line")}
                self.assertEqual(lines, {'torch::load(net, "net.pt");'})


class Others(unittest.TestCase):
    @unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
    def test_records_are_whole_however_a_program_ends_but_by_a_handler_of_a_signal(self):
        for words, status in ((("leaves_at_once",), 0), (("leaves_at_once", "_Exit"), 0),
                              (("leaves_at_once", "quick_exit"), 0), (("leaves_by_another_thread",), 0),
                              (("leaves_by_a_signal",), 5)):  # fmt: skip
            with self.subTest(words), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([BUILD / "bin" / "dlcheck", "run", "--output-dir", Path(folder) / "out", "--", PROGRAM,
                                       *words], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, status, done.stderr)

    @unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
    def test_steps_of_a_program_that_ends_unseen_are_said_to_be_at_least_so_many(self):
        with tempfile.TemporaryDirectory() as folder:
            done, result = run(folder, "leaves_at_once", "unseen")
            (finding,) = (f for check in result["checks"] if check["id"] == "program/failed" for f in check["findings"])
            self.assertRegex(finding["message"], r"exited with status 3 after at least \d+ optimizer steps")
            self.assertTrue(result["coverage"]["cut"])
            self.assertRegex(done.stderr, r"of at least \d+ steps")

    @unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
    def test_steps_of_rmsprop_and_adagrad_are_computed_again(self):
        for program in ("accumulates", "reads"):
            with self.subTest(program), tempfile.TemporaryDirectory() as folder:
                done, result = run(folder, program)
                (check,) = (check for check in result["checks"] if check["id"] == "optimizer/wrong_update")
                self.assertEqual((check["outcome"], check["findings"]), ("passed", []), done.stderr)

    @unittest.skipUnless(PROGRAM.exists(), "the programs are not built: no LibTorch")
    def test_a_launcher_may_come_before_and_two_variables_are_in_the_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            script = 'env > names; exec "$@"'
            done = subprocess.run([BUILD / "bin" / "dlcheck", "run", "--output-dir", "out", "--", "/bin/sh", "-c", script,
                                   "sh", PROGRAM, "norms"], capture_output=True, text=True, check=False,
                                  cwd=folder)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("no findings", done.stderr)
            names = {line.split("=")[0] for line in (Path(folder) / "names").read_text().splitlines()}
            self.assertLessEqual({"LD_PRELOAD", "DLCHECK_WORKERS"}, names)

    def test_a_program_without_libtorch_is_told_so_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([BUILD / "bin" / "dlcheck", "run", "--output-dir", Path(folder) / "out", "--",
                                   "/bin/true"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 5)
            self.assertIn("/bin/true is not linked with a shared LibTorch", done.stderr)


if __name__ == "__main__":
    unittest.main()
