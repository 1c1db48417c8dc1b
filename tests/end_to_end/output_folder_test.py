"""The folder that a run writes: one run at a time, links that are not followed, modes, and a full or
limited disk."""

import os
import re
import resource
import stat
import subprocess
import unittest

from support import DLCHECK, EndToEnd, environment


class Folder(EndToEnd):
    def start(self, *words, cwd=None):
        """A run that goes on until its standard input is closed."""
        script = 'echo started; read line'
        process = subprocess.Popen([DLCHECK, "run", *words, "--", "sh", "-c", script], text=True,
                                   cwd=cwd or self.folder, stdin=subprocess.PIPE, env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        self.assertEqual(process.stdout.readline(), "started\n")
        self.addCleanup(process.communicate)
        return process


class TwoAtOnce(Folder):
    def test_a_named_folder_in_use_is_refused_with_the_process(self):
        first = self.start("--output-dir", "out")
        second = self.run_command("true")
        self.assertEqual(second.returncode, 2)
        self.assertIn(f"is in use: process {first.pid} is writing it", second.stderr)
        self.assertTrue((self.out / "runs/00-plain-0/request").exists(), "the first lost its run")

    def test_the_default_folder_in_use_is_left_for_the_next_one(self):
        self.start()
        second = self.dlcheck("run", "--", "true")
        self.assertEqual(second.returncode, 5)
        self.assertIn("this run writes 'dlcheck-out.2'", second.stderr)
        self.assertTrue((self.folder / "dlcheck-out.2/result.json").exists())
        self.assertFalse((self.folder / "dlcheck-out/result.json").exists())

    def test_a_folder_is_free_after_its_run(self):
        self.assertEqual([self.run_command("true").returncode for _ in range(2)], [5, 5])

    def test_a_folder_is_free_after_its_run_was_killed(self):
        first = self.start("--output-dir", "out")
        first.kill()
        first.wait()
        self.assertEqual(self.run_command("true").returncode, 5)

    def test_eight_at_once_have_eight_folders(self):
        runs = [self.start() for _ in range(8)]
        for run in runs:
            run.communicate("\n")
        made = sorted(path.name for path in self.folder.glob("dlcheck-out*"))
        self.assertEqual(made, ["dlcheck-out", *(f"dlcheck-out.{number}" for number in range(2, 9))])
        for name in made:
            self.assertTrue((self.folder / name / "result.json").exists(), name)


class Links(Folder):
    def setUp(self):
        super().setUp()
        self.run_command("true")
        self.victim = self.folder / "victim"
        self.victim.write_text("precious")

    def replaced(self, name):
        path = self.out / name
        if path.is_dir():
            subprocess.run(["rm", "-r", path], check=True)
        path.unlink(missing_ok=True)
        path.symlink_to(self.victim)
        process = self.run_command("true")
        self.assertEqual(self.victim.read_text(), "precious")
        return process

    def test_a_link_in_the_place_of_the_mark_is_refused(self):
        process = self.replaced(".dlcheck")
        self.assertEqual(process.returncode, 2)
        self.assertIn("holds something that dlcheck did not write", process.stderr)

    def test_a_second_name_of_a_file_in_the_place_of_the_mark_is_refused(self):
        (self.out / ".dlcheck").unlink()
        os.link(self.victim, self.out / ".dlcheck")
        process = self.run_command("true")
        self.assertEqual((process.returncode, self.victim.read_text()), (2, "precious"))
        self.assertIn("not a file of its own", process.stderr)

    def test_links_in_other_places_are_removed_and_not_followed(self):
        for name in (".reserve", "result.json", "runs"):
            with self.subTest(name):
                self.assertEqual(self.replaced(name).returncode, 5)
                self.assertFalse((self.out / name).is_symlink())

    def test_a_link_named_as_the_folder_leads_to_it(self):
        target = self.folder / "scratch"
        target.mkdir()
        (self.folder / "link").symlink_to(target)
        self.assertEqual(self.dlcheck("run", "--output-dir", "link", "--", "true").returncode, 5)
        self.assertTrue((target / "result.json").exists())


class Modes(Folder):
    def test_files_and_folders_are_the_owners_alone_whatever_the_umask(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        self.run_command("sh", "-c", "exit 3")
        for path in (self.out, *self.out.rglob("*")):
            mode = stat.S_IMODE(path.lstat().st_mode)
            self.assertEqual(mode, 0o700 if path.is_dir() else 0o600, path)

    def test_git_does_not_see_the_folder(self):
        self.run_command("true")
        self.assertEqual((self.out / ".gitignore").read_text(), "*\n")

    def test_a_gitignore_of_the_user_stays(self):
        self.run_command("true")
        (self.out / ".gitignore").write_text("records\n")
        self.run_command("true")
        self.assertEqual((self.out / ".gitignore").read_text(), "records\n")

    def test_a_result_for_others_has_the_mode_that_the_umask_gives(self):
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        self.run_command("true", options=["--report", "junit=out.xml"])
        self.assertEqual(stat.S_IMODE((self.folder / "out.xml").stat().st_mode), 0o644)


class OddPlaces(Folder):
    def test_a_colon_in_the_path_is_refused(self):
        process = self.dlcheck("run", "--output-dir", "a:b", "--", "true")
        self.assertEqual(process.returncode, 2)
        self.assertIn("has a ':' in its path", process.stderr)

    def test_a_colon_in_the_working_folder_is_refused(self):
        place = self.folder / "a:b"
        place.mkdir()
        process = self.dlcheck("run", "--", "true", cwd=place)
        self.assertIn("choose another with --output-dir", process.stderr)
        self.assertEqual(self.dlcheck("run", "--output-dir", self.out, "--", "true", cwd=place).returncode, 5)

    def test_a_slash_at_the_end_is_no_other_folder(self):
        self.assertEqual(self.dlcheck("run", "--output-dir", "out/", "--", "true").returncode, 5)
        self.assertTrue((self.out / "result.json").exists())

    def test_a_pipe_as_a_baseline_is_refused_at_once(self):
        os.mkfifo(self.folder / "pipe")
        process = self.run_command("true", options=["--baseline", "pipe"], timeout=10)
        self.assertEqual(process.returncode, 2)
        self.assertIn("is not a regular file", process.stderr)

    def test_a_limit_of_file_sizes_ends_nothing(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 10, 100 << 10))

        process = subprocess.run([DLCHECK, "run", "--output-dir", self.out, "--", "sh", "-c", "echo ran; exit 3"],
                                 preexec_fn=limit, capture_output=True, text=True,
                                 cwd=self.folder, env=environment())  # fmt: skip
        self.assertEqual((process.returncode, process.stdout), (1, "ran\n"), process.stderr)

    def test_a_full_device_as_standard_output_is_an_error(self):
        for words in (["list"], ["version"], ["--help"], ["explain", "--all"]):
            with open("/dev/full", "w") as full:
                process = subprocess.run([DLCHECK, *words], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(process.returncode, 2, words)
            self.assertIn("cannot write standard output: No space left on device", process.stderr)

    def test_a_reader_that_goes_away_ends_nothing(self):
        command = f'"{DLCHECK}" run --output-dir out --exit-code program -- sh -c "exit 3" 2>&1; echo $? >&3'
        process = subprocess.run(["sh", "-c", f"({command}) 3>status | true"], cwd=self.folder,
                                 env=environment())  # fmt: skip
        self.assertEqual(process.returncode, 0)
        self.assertEqual((self.folder / "status").read_text(), "3\n")
        self.assertEqual(self.check("program/failed")["outcome"], "failed")

    def test_an_older_result_survives_a_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk],
                                 capture_output=True, text=True)  # fmt: skip
        if mounted.returncode != 0:
            self.skipTest("a small file system cannot be mounted here: " + mounted.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        (disk / "old.json").write_text("the whole old text")
        (disk / "filler").write_bytes(bytes(58 << 10))
        process = self.run_command("true", options=["--report", f"json={disk}/old.json"])
        self.assertEqual(process.returncode, 2, process.stderr)
        self.assertIn("No space left", process.stderr)
        self.assertEqual((disk / "old.json").read_text(), "the whole old text")
        self.assertEqual(sorted(os.listdir(disk)), ["filler", "old.json"])


class Deadline(EndToEnd):
    def test_a_deadline_has_a_status_of_its_own(self):
        for mode in ("dlcheck", "program"):
            options = ["--timeout", "0.3", "--exit-code", mode]
            process = self.run_command("sleep", "60", options=options)
            self.assertEqual(process.returncode, 124, process.stderr)
        self.assertEqual(self.result()["exit"]["code"], 124)

    def test_a_program_that_ends_in_time_keeps_its_own(self):
        options = ["--timeout", "60", "--exit-code", "program"]
        self.assertEqual(self.run_command("sh", "-c", "exit 4", options=options).returncode, 4)


class Secrets(EndToEnd):
    KEPT = ["--lr", "0.1", "--author", "me", "--monkey", "m", "--max-tokens", "100", "--pad-token", "x",
            "https://host/path?a=1", "--keys-per-step", "4", "--passes", "3", "skip-connection", "a=1;b=2",
            "--data", "/data/auth/x.csv", "mask-rcnn"]  # fmt: skip
    MASKED = [
        ["--wandb-key", "CANARY"], ["--key=CANARY"], ["--auth", "CANARY"], ["--pw", "CANARY"],
        ["-p", "CANARY"], ["--bearer", "CANARY"], ["a=1;TOKEN=CANARY"], ["AKIACANARYCANARY1234"],
        ["https://user:CANARY@host/x"], ["postgres://CANARY@host/x"], ["HF_TOKEN=CANARY"],
        ["WANDB_API_KEY=CANARY"], ["--api_token", "CANARY"], ["AWS_SECRET_ACCESS_KEY=CANARY"],
        ["hf_CANARYcanaryCANARY"], ["ghp_CANARYcanaryCANARY"], ["sk-CANARYcanaryCANARY"],
        ["xoxb-1-CANARY-1"], ["glpat-CANARYcanary"], ["github_pat_CANARYcanary"],
        ["eyJhbGciCANARY.eyJzdWICANARY.CANARY"], ["--header", "Authorization: Bearer CANARY"],
        ["--apiKey", "CANARY"], ["--wandbkey=CANARY"], ["model=x,password=CANARY"],
        ["--url=https://a:CANARY@h?b=1"], ["sh -c 'export TOKEN=CANARY; x'"], ["--passphrase", "CANARY"],
    ]  # fmt: skip

    def test_every_secret_is_masked_and_everything_else_kept(self):
        masked = [word for words in self.MASKED for word in words]
        self.run_command("true", *self.KEPT, "--", *masked)
        command = self.result()["command"]
        self.assertEqual(len(command), 2 + len(self.KEPT) + len(masked))
        self.assertEqual(command[1 : 1 + len(self.KEPT)], self.KEPT)
        for word in command:
            self.assertNotIn("CANARY", word)
        for path in self.out.rglob("*"):
            if path.is_file():
                self.assertNotIn(b"CANARY", path.read_bytes(), path)


HOSTILE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class HostileText(EndToEnd):
    """Names that strangers chose, in every place where a command line takes one."""

    def harmless(self, text):
        self.assertIsNone(HOSTILE.search(text), repr(text))
        for line in text.split("\n"):
            self.assertFalse(line.lstrip().startswith("::"), repr(line))
            self.assertNotIn("##[", line)

    EVIL = "w\n::error title=x::pwned\x1b]0;owned\x07\x1b[2J\x9b31m\u202e##[error]"

    def test_refusals_show_no_control_characters(self):
        folder = self.folder / self.EVIL.replace("/", "")
        folder.mkdir()
        (folder / "dlcheck.toml").write_text('"evil\\u001b\\n::error::x" = 1\n')
        for words in (["judge", self.EVIL], ["report", self.EVIL], ["accept", self.EVIL], [self.EVIL],
                      ["verify", self.EVIL], ["explain", self.EVIL], ["run", "--output-dir", self.EVIL + ":", "--", "x"],
                      ["run", "--select", self.EVIL, "--", "true"], ["run", "--" + self.EVIL, "--", "true"],
                      ["run", "--output-dir", self.out, "--", self.EVIL], ["run", "--report", f"json={self.EVIL}/x", "--", "true"],
                      ["run", "--report", self.EVIL, "--", "true"], ["run", "--set", self.EVIL, "--", "true"],
                      ["run", "--declare", self.EVIL, "--", "true"]):  # fmt: skip
            for cwd in (self.folder, folder):
                process = self.dlcheck(*words, cwd=cwd)
                self.assertNotEqual(process.stderr, "", words)
                self.harmless(process.stderr)
                self.harmless(process.stdout)


if __name__ == "__main__":
    unittest.main()
