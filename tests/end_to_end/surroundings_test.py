"""What stands around a run: large and odd configurations, locales, folders that are not there, paths of
every shape, data that another process has locked, many and long names."""

import fcntl
import os
import resource
import shutil
import subprocess
import sys
import unittest

from support import BUILD, DLCHECK, SOURCE, EndToEnd, environment

SECONDS = 5  # far above what any of these takes
NAMES = 10_000  # of one run, each as long as a file's may be


class Configurations(EndToEnd):
    def run_with(self, content):
        (self.folder / "dlcheck.toml").write_bytes(content)
        return self.dlcheck("run", "--", "true", timeout=SECONDS)

    def test_a_byte_order_mark_line_ends_of_windows_and_a_missing_last_one_are_read(self):
        for content in (b'\xef\xbb\xbffail_on = "note"\r\n', b'fail_on = "note"'):
            self.assertEqual(self.run_with(content).returncode, 5, content)

    def test_bytes_that_are_no_text_are_refused_with_their_line(self):
        for content in (b'fail_on = "note"\n\nx = "\xff"\n', b'fail_on = "note"\n\nx = "\0"\n', b"\n\nfail_on\r= 1"):
            refused = self.run_with(content)
            self.assertEqual(refused.returncode, 2, content)
            self.assertIn("dlcheck.toml:3: ", refused.stderr)

    def test_one_that_is_deep_or_large_is_refused_at_once(self):
        for content in (b"select = " + b"[" * 100_000 + b"]" * 100_000, b"# " + b"x" * (10 << 20)):
            refused = self.run_with(content)
            self.assertEqual(refused.returncode, 2, refused.stderr)
            self.assertLess(len(refused.stderr), 500)

    def test_nothing_in_a_value_is_expanded(self):
        out = self.folder / "$HOME-${HOME}-~-`id`-%h"
        finished = self.dlcheck("run", "--output-dir", out, "--", "echo", "$HOME", "@file", "*")
        self.assertEqual(finished.stdout, "$HOME @file *\n")
        self.assertTrue((out / "result.json").exists())


class Surroundings(EndToEnd):
    def test_the_locale_changes_no_byte(self):
        result = SOURCE / "tests/golden/trace-2.0"
        folder = self.folder / "trace"
        shutil.copytree(result, folder)
        texts = {self.dlcheck("judge", folder, LC_ALL=name, LANG=name).stderr
                 for name in ("C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "no such locale")}  # fmt: skip
        self.assertEqual(len(texts), 1)
        self.assertIn("judged", texts.pop())

    def test_no_home_and_no_temporary_folder_are_needed(self):
        for changes in ({"HOME": "/not/there", "TMPDIR": "/not/there"}, {"HOME": "", "TMPDIR": ""}):
            self.assertEqual(self.dlcheck("run", "--", "true", **changes).returncode, 5)

    def test_a_working_folder_that_is_gone_is_told(self):
        gone = self.folder / "gone"
        gone.mkdir()
        script = 'cd "$1" && rmdir "$1" && exec "$0" run -- true'
        refused = subprocess.run(["sh", "-c", script, DLCHECK, gone], capture_output=True, text=True,
                                 env=environment(), check=False)  # fmt: skip
        self.assertEqual(refused.returncode, 2)
        self.assertEqual(refused.stderr.count("\n"), 1, refused.stderr)

    def test_paths_of_every_shape_lead_where_they_say(self):
        for name in ("a b", "quote'\"", "-leading", "ünïcödé-\u202e", "new\nline", "#?&%41", "x" * 255):
            out = self.folder / name
            finished = self.dlcheck("run", "--output-dir", out, "--", "true")
            self.assertEqual(finished.returncode, 5, finished.stderr)
            self.assertTrue((out / "result.json").exists(), name)
            for character in ("\u202e", "\x1b"):
                self.assertNotIn(character, finished.stderr)
        refused = self.dlcheck("run", "--output-dir", self.folder / ("y/" * 3000), "--", "true")
        self.assertEqual(refused.returncode, 2, refused.stderr)

    def test_a_single_processor_and_odd_numbers_of_threads_are_no_trouble(self):
        for threads in ("0", "1000", "x", "-1"):
            process = subprocess.run([DLCHECK, "run", "--", "true"], cwd=self.folder, capture_output=True, text=True,
                                     env={**environment(), "OMP_NUM_THREADS": threads}, check=False,
                                     preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
            self.assertEqual(process.returncode, 5, process.stderr)


class Data(EndToEnd):
    def test_a_file_that_another_process_has_locked_is_refused_by_name(self):
        data = self.folder / "locked.h5"
        shutil.copy(SOURCE / "fixtures/data/digits.h5", data)
        with open(data, "rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            refused = subprocess.run([BUILD / "bin/dlcheck-data", data], capture_output=True, text=True,
                                     timeout=SECONDS, env=environment(), check=False)  # fmt: skip
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn(str(data), refused.stderr)


class Many(EndToEnd):
    """Time and memory grow with what was recorded, and the report does not."""

    def judged(self, count):
        script = (
            f"import sys; sys.path.insert(0, {str(SOURCE / 'checks/observe/python')!r})\n"
            "import types\nsys.modules['dlcheck_shim'] = shim = types.ModuleType('dlcheck_shim')\n"
            f"shim.__path__ = [{str(SOURCE / 'checks/observe/python/dlcheck_shim')!r}]\n"
            "import os\nfrom dlcheck_shim.record import names\nfrom dlcheck_shim.record.writer import EVENT, QUANTITY, TraceWriter\n"
            "request = dict(l.rstrip('\\n').split('\\t') for l in open(os.environ['DLCHECK_REQUEST']))\n"
            "writer = TraceWriter(request['run_folder'], run=request.get('run', ''))\n"
            f"for i in range({count}):\n"
            "    thing = writer.thing('parameter', 0, f'{i:06}' + 'n' * 249)\n"
            "    writer.put(QUANTITY, names.QUANTITIES['gradient_norm'], 0, 0, thing, 0, 0, float('nan'), 0.0)\n"
            "writer.put(EVENT, names.EVENTS['step'], 0, 0, writer.thing('optimizer', 0, 'o'), 0, 0, 0.0, 0.0)\n"
            "writer.close()\n")
        finished = self.run_command(sys.executable, "-S", "-c", script)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        judged = self.dlcheck("judge", self.out)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(finished.returncode, judged.returncode, finished.stderr)
        shutil.rmtree(self.out)
        return after.ru_utime - before.ru_utime, len(judged.stderr)

    def test_names_of_the_greatest_length_cost_linear_time_and_no_more_text(self):
        few, text = self.judged(NAMES // 4)
        many, more_text = self.judged(NAMES)
        self.assertLess(many, 12 * max(few, 0.05))  # four times as many; a square would be sixteen
        self.assertLess(more_text, 1.2 * text + 200)


if __name__ == "__main__":
    unittest.main()
