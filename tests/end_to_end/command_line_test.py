"""The command line without any training: usage, exit codes, foreign records, full disks, signals."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from support import BUILD, DLCHECK, EndToEnd, environment

STREAM = BUILD / "tests" / "synthetic_stream"


class Usage(EndToEnd):
    def refused(self, process, *words):
        self.assertEqual(process.returncode, 2, process.stderr)
        for word in words:
            self.assertIn(word, process.stderr)
        self.assertEqual(process.stderr.count("\n"), 1, process.stderr)

    def test_an_unknown_command_is_refused_with_the_nearest(self):
        self.refused(self.dlcheck("jugde"), "'jugde'", "did you mean 'judge'?")

    def test_an_unknown_option_is_refused_with_the_nearest(self):
        self.refused(self.dlcheck("run", "--selct", "x", "--", "true"), "--selct", "--select")

    def test_an_unknown_check_is_refused_with_the_nearest(self):
        self.refused(self.run_command("true", options=["--select", "optimizer/stale_gradient"]),
                     "optimizer/stale_gradients")

    def test_an_unknown_setting_is_refused_with_the_nearest(self):
        self.refused(self.run_command("true", options=["--set", "gradients/exploding:ratoi=3"]),
                     "'ratio'")

    def test_a_setting_outside_its_range_is_refused(self):
        self.refused(self.run_command("true", options=["--set", "gradients/exploding:ratio=nan"]),
                     "must be between")

    def test_help_names_the_command_fits_a_terminal_and_shows_no_rules_of_the_parser(self):
        for command in ("run", "judge", "check", "list", "explain", "report", "verify", "suggest", "accept", "selftest"):
            with self.subTest(command=command):
                text = self.dlcheck(command, "--help").stdout
                self.assertIn(f"Usage: dlcheck {command}", text)
                self.assertLessEqual(max(map(len, text.splitlines())), 100)
                self.assertNotRegex(text, r"POSITIVE|\{|\n\n\n|\bTEXT\b")

    def test_run_without_a_command_says_how(self):
        self.refused(self.dlcheck("run"), "dlcheck run -- python train.py")

    def test_a_command_that_is_not_there_is_refused(self):
        self.refused(self.run_command("no-such-program"), "no-such-program",
                     "No such file or directory")

    def test_a_configuration_with_an_unknown_key_is_refused_with_line_and_nearest(self):
        (self.folder / "dlcheck.toml").write_text('fail_on = "error"\nselct = ["gradients"]\n')
        self.refused(self.run_command("true"), "dlcheck.toml:2", "did you mean 'select'?")

    def test_a_configuration_that_is_no_toml_is_refused_with_its_line(self):
        (self.folder / "dlcheck.toml").write_text("select = [\n")
        self.refused(self.run_command("true"), "dlcheck.toml:")

    def test_the_configuration_selects_and_the_command_line_overrides(self):
        (self.folder / "dlcheck.toml").write_text('select = ["program"]\n')
        self.run_command("true")
        self.assertEqual({check["id"].split("/")[0] for check in self.result()["checks"]}, {"program"})
        self.run_command("true", options=["--select", "learnability"])
        self.assertEqual({check["id"].split("/")[0] for check in self.result()["checks"]},
                         {"learnability"})

    def test_an_output_folder_that_holds_something_else_is_refused_and_left_alone(self):
        self.out.mkdir()
        (self.out / "thesis.tex").write_text("years of work")
        self.refused(self.run_command("true"), "did not write")
        self.assertEqual((self.out / "thesis.tex").read_text(), "years of work")

    def test_an_output_folder_that_is_a_file_is_refused(self):
        self.out.write_text("")
        self.refused(self.run_command("true"), "it is a file")

    def test_an_output_folder_that_cannot_be_written_is_refused(self):
        self.out = pathlib.Path("/proc/dlcheck-out")
        self.refused(self.run_command("true"), "/proc/dlcheck-out")

    def test_a_second_run_replaces_the_first(self):
        self.run_command("true")
        self.run_command("true")
        self.assertEqual(len(list((self.out / "runs").iterdir())), 1)

    def test_nothing_selected_exits_5(self):
        process = self.run_command("true", options=["--select", "program", "--ignore", "program"])
        self.assertEqual(process.returncode, 5)


class Pages(EndToEnd):
    def test_list_is_a_json_list_of_all_checks(self):
        checks = json.loads(self.dlcheck("list", "--json").stdout)
        self.assertIn("optimizer/stale_gradients", [check["id"] for check in checks])
        self.assertEqual(len(checks), len(self.dlcheck("list").stdout.splitlines()))

    def test_explain_prints_the_page_of_a_check(self):
        page = self.dlcheck("explain", "optimizer/stale_gradients").stdout
        self.assertIn("optimizer.zero_grad()", page)
        self.assertEqual(self.dlcheck("explain", "optimizer/stale_gradient").returncode, 2)

    def test_version_names_what_it_was_built_with(self):
        facts = json.loads(self.dlcheck("version", "--json").stdout)
        for key in ("dlcheck", "cxx11_abi", "libtorch", "hdf5", "cuda"):
            self.assertIn(key, facts)

    def test_selftest_passes(self):
        process = self.dlcheck("selftest")
        self.assertEqual(process.returncode, 0, process.stdout)
        self.assertIn("0 fail", process.stdout)


class PlainPrograms(EndToEnd):
    def test_a_program_without_training_exits_5_and_says_so(self):
        process = self.run_command("sh", "-c", "echo its own output; exit 0")
        self.assertEqual(process.returncode, 5)
        self.assertEqual(process.stdout, "its own output\n")
        self.assertIn("no training was observed", process.stderr)

    def test_a_program_that_fails_is_a_finding(self):
        process = self.run_command("sh", "-c", "exit 3")
        self.assertEqual(process.returncode, 1)
        self.assertEqual(self.check("program/failed")["findings"][0]["measured"], 3)

    def test_its_status_passes_through_on_request(self):
        options = ["--exit-code", "program"]
        self.assertEqual(self.run_command("sh", "-c", "exit 3", options=options).returncode, 3)
        self.assertEqual(self.run_command("sh", "-c", "kill -SEGV $$", options=options).returncode,
                         128 + signal.SIGSEGV)

    def test_secrets_in_the_command_are_redacted(self):
        self.run_command("true", "--api-key", "s3cret", "--token=s3cret", "--lr", "0.1")
        self.assertEqual(self.result()["command"],
                         ["true", "--api-key", "***", "--token=***", "--lr", "0.1"])

    def test_a_run_inside_a_run_passes_the_command_on(self):
        process = self.run_command(DLCHECK, "run", "--", "sh", "-c", "exit 4")
        self.assertEqual(self.check("program/failed")["findings"][0]["measured"], 4)
        self.assertIn("already watched", process.stderr)

    def test_the_result_is_the_same_twice_but_for_volatile(self):
        results = []
        for _ in range(2):
            self.run_command("sh", "-c", "exit 3")
            result = self.result()
            del result["volatile"]
            results.append(result)
        self.assertEqual(*results)

    def test_a_result_can_be_written_elsewhere_too(self):
        copy = self.folder / "copy.json"
        self.run_command("true", options=["--report", f"json={copy}"])
        self.assertEqual(copy.read_text(), (self.out / "result.json").read_text())


class Interruption(EndToEnd):
    def interrupt(self, send):
        process = subprocess.Popen([DLCHECK, "run", "--output-dir", self.out, "--", "sleep", "60"],
                                   stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env=environment())
        deadline = time.monotonic() + 20
        while not list(self.out.glob("runs/*/request")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        send(process)
        _, stderr = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertEqual(self.result()["exit"]["code"], 130)
        left = subprocess.run(["pgrep", "-s", str(process.pid)], capture_output=True, text=True)
        self.assertEqual(left.stdout, "", "a child was left")

    def test_ctrl_c_exits_130_with_a_result_and_no_child_left(self):
        self.interrupt(lambda process: os.killpg(process.pid, signal.SIGINT))

    def test_sigterm_to_dlcheck_alone_ends_the_program_too(self):
        self.interrupt(lambda process: process.send_signal(signal.SIGTERM))


class Records(EndToEnd):
    def record(self, steps=100):
        run = self.out / "runs" / "00-plain-0"
        run.mkdir(parents=True)
        subprocess.run([STREAM, run, str(steps), "clean"], check=True)
        return next(run.glob("records/*.records"))

    def judged(self, code, *words, options=()):
        process = self.dlcheck("judge", *options, self.out)
        self.assertEqual(process.returncode, code, process.stderr)
        for word in words:
            self.assertIn(word, " ".join(process.stderr.split()))  # lines are broken where they are full

    def test_records_without_an_ending_are_not_called_clean(self):
        self.record()
        self.judged(5, "no findings", "not complete")
        self.judged(0, "no findings", options=["--partial"])

    def test_a_folder_without_runs_is_refused(self):
        self.out.mkdir()
        self.judged(2, "holds no runs")

    def test_a_folder_that_is_not_there_is_refused(self):
        self.judged(2, "is neither a folder nor a file")

    def test_foreign_records_are_refused_with_the_file(self):
        path = self.record()
        path.write_bytes(b"something else entirely" * 10)
        self.judged(2, path.name, "is not a record file")

    def test_records_of_a_newer_version_are_refused(self):
        path = self.record()
        data = bytearray(path.read_bytes())
        data[12] = 9
        path.write_bytes(data)
        self.judged(2, path.name, "newer dlcheck")

    def test_records_truncated_beyond_use_are_refused(self):
        path = self.record()
        path.write_bytes(path.read_bytes()[:30])
        self.judged(2, path.name, "ends inside its header")

    def test_records_without_their_names_are_refused(self):
        path = self.record()
        path.with_suffix(".names").unlink()
        self.judged(2, path.stem)

    def test_records_damaged_later_are_judged_up_to_there_and_said_to_be(self):
        path = self.record()
        data = bytearray(path.read_bytes())
        data[64 * 4000] ^= 77
        path.write_bytes(data)
        self.judged(2, "is damaged behind record", "--partial judges what is left")
        self.judged(0, "is damaged behind record", options=["--partial"])

    def test_a_pipe_in_the_place_of_records_is_refused_at_once(self):
        path = self.record()
        path.unlink()
        os.mkfifo(path)
        self.judged(2, path.name, "is not a regular file")


class Verify(EndToEnd):
    def setUp(self):
        super().setUp()
        script = f'{STREAM} "$(dirname "$DLCHECK_REQUEST")" 400 clean'
        self.assertEqual(self.run_command("sh", "-c", script).returncode, 0)
        self.records = next(self.out.glob("runs/*/records/*.records"))

    def verified(self, code, *words):
        process = self.dlcheck("verify", self.out)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        for word in words:
            self.assertIn(word, process.stdout)

    def test_whole_records_are_whole(self):
        self.verified(0, "00-plain-0  whole")

    def test_one_changed_byte_is_damage(self):
        data = bytearray(self.records.read_bytes())
        data[len(data) // 2] ^= 1
        self.records.write_bytes(data)
        self.verified(2, "00-plain-0  damaged")

    def test_a_changed_name_is_damage(self):
        names = self.records.with_suffix(".names")
        names.write_text(names.read_text().replace("weight", "height", 1))
        self.verified(2, "damaged")

    def test_a_missing_end_is_told(self):
        self.records.write_bytes(self.records.read_bytes()[:-64])
        self.verified(2, "damaged")

    def test_a_missing_process_is_told(self):
        self.records.unlink()
        self.verified(2, "damaged")

    def test_a_run_without_its_ending_is_not_complete(self):
        (self.records.parent.parent / "ending").unlink()
        self.verified(5, "not complete")


class FullDisk(EndToEnd):
    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", self.disk],
                                 capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest("a small file system cannot be mounted here: " + mounted.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk])

    def test_a_disk_that_fills_up_harms_no_program_and_is_said_to_have_cost_records(self):
        self.out = self.disk / "out"
        script = f'{STREAM} "$(dirname "$DLCHECK_REQUEST")" 30000 clean && echo finished'
        process = self.run_command("sh", "-c", script)
        self.assertEqual(process.stdout, "finished\n")
        self.assertEqual(process.returncode, 5, process.stderr)
        self.assertIn("No space", process.stderr)
        self.assertIn("--partial judges what is there", process.stderr)
        self.assertEqual(self.result()["exit"]["code"], 5)


if __name__ == "__main__":
    unittest.main()
