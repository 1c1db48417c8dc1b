"""`dlcheck judge` of memory snapshots: one that torch makes of a profile on a CPU, and some in the documented form of
those of an accelerator."""

import collections
import pickle
import subprocess
import textwrap
import unittest

from support import TORCH_PYTHON, EndToEnd

MIB = 1 << 20
PROGRAM = textwrap.dedent(
    """
    import pickle, sys, torch
    from torch.cuda._memory_viz import _profile_to_snapshot
    from torch.profiler import ProfilerActivity, profile
    layer, kept = torch.nn.Linear(512, 512), []
    def train_step():
        loss = layer(torch.randn(512, 512)).square()
        kept.append(loss if "keep" in sys.argv else loss.detach().mean())
        loss.mean().backward()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, with_stack=True,
                 record_shapes=True) as profiler:
        for step in range(40):
            train_step()
    with open(sys.argv[1], "wb") as file:
        pickle.dump(_profile_to_snapshot(profiler), file)
    """
)


def entry(action, address, size, line):
    frames = [{"filename": "/usr/lib/python3/torch/nn/functional.py", "line": 5, "name": "linear"},
              {"filename": "/home/ada/train.py", "line": line, "name": "main"}]  # fmt: skip
    return {"action": action, "addr": address, "size": size, "stream": 0, "frames": frames}


def snapshot(keeps):
    """Hundred steps of 64 MiB that are freed at line 9, and 2 MiB at line 7 that may be kept."""
    entries = [entry("segment_alloc", 1 << 40, 512 * MIB, 9)]
    for step in range(100):
        entries += [entry("alloc", 1000, 64 * MIB, 9), entry("alloc", 5000 + step, 2 * MIB, 7),
                    entry("free_requested", 1000, 64 * MIB, 9), entry("free_completed", 1000, 64 * MIB, 9)]  # fmt: skip
        if not keeps:
            entries.append(entry("free_requested", 5000 + step, 2 * MIB, 7))
    return {"segments": [{"total_size": 512 * MIB, "allocated_size": 64 * MIB}], "device_traces": [[], entries]}


class JudgeMemory(EndToEnd):
    def judge(self, value, code):
        path = self.folder / "my_snapshot.pickle"
        if value is not None:
            path.write_bytes(value if isinstance(value, bytes) else pickle.dumps(value))
        process = self.dlcheck("judge", self.folder)
        self.assertEqual(process.returncode, code, process.stderr)
        return " ".join(process.stderr.split())

    def test_a_line_whose_memory_is_never_freed_is_named(self):
        text = self.judge(snapshot(keeps=True), 0)
        self.assertIn("most memory: /home/ada/train.py:7 200 MiB", text)
        self.assertIn("Memory allocated at /home/ada/train.py:7 grew from 60 to 200 MiB", text)
        self.assertNotIn("train.py:9 grew", text)

    def test_memory_that_is_freed_passes(self):
        self.assertIn("1 check passed", self.judge(snapshot(keeps=False), 0))

    def test_what_torch_makes_of_a_profile_is_read(self):
        self.require_torch()
        for words, expected in ((["keep"], "1 note"), ([], "1 check passed")):
            with self.subTest(words):
                program = self.folder / "train.py"
                program.write_text(PROGRAM)
                command = [TORCH_PYTHON, "-W", "ignore", program, self.folder / "my_snapshot.pickle", *words]
                subprocess.run(command, check=True, capture_output=True, cwd=self.folder)
                self.assertIn(expected, self.judge(None, 0))

    def test_a_snapshot_without_a_history_says_how_to_get_one(self):
        text = self.judge({"segments": snapshot(False)["segments"], "device_traces": [[]]}, 5)
        self.assertIn("it has no history: call torch.cuda.memory._record_memory_history() first", text)

    def test_other_pickles_are_refused_and_nothing_in_them_is_called(self):
        class Calls:
            def __reduce__(self):
                return exec, (f"open({str(self_folder / 'called')!r}, 'w')",)

        self_folder = self.folder
        deep = []
        for _ in range(300):
            deep = [deep]
        whole = pickle.dumps(snapshot(True))
        for value, words in ((Calls(), "holds more than plain values"), ([1, 2.5, 2**40, None], "no memory snapshot"),
                             (collections.OrderedDict(segments=[]), "holds more than plain values"),
                             (deep, "no memory snapshot"), (whole[: len(whole) // 2], "cut off or damaged")):  # fmt: skip
            with self.subTest(words):
                self.assertIn(words, self.judge(value, 2))
        self.assertFalse((self.folder / "called").exists())


if __name__ == "__main__":
    unittest.main()
