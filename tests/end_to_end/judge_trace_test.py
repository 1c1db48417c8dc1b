"""`dlcheck judge` of traces of the PyTorch profiler: one that the real profiler wrote on a CPU, and one of an
accelerator that is written here in the same format."""

import json
import subprocess
import textwrap
import unittest

from support import TORCH_PYTHON, EndToEnd

PROGRAM = textwrap.dedent(
    """
    import sys, torch
    from torch.profiler import ProfilerActivity, profile, schedule
    layer = torch.nn.Linear(64, 64)
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=3),
                 on_trace_ready=lambda one: one.export_chrome_trace(sys.argv[1])) as profiler:
        for step in range(5):
            layer(torch.randn(8, 64)).square().mean().backward()
            profiler.step()
    """
)


def event(category, name, begin, microseconds, thread=1):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": begin, "dur": microseconds}


def accelerated(busy):
    """Four steps of 100 ms, each with five kernels that take the share `busy` of it; the host waits once."""
    events = []
    for step in range(4):
        begin = 100_000 * step
        events += [event("user_annotation", f"ProfilerStep#{step + 3}", begin, 100_000),
                   event("cuda_runtime", "cudaStreamSynchronize", begin + 5, 90),
                   event("cuda_runtime", "cudaMemcpyAsync", begin + 7, 90),
                   event("gpu_user_annotation", f"ProfilerStep#{step + 3}", begin, 10, thread=7)]  # fmt: skip
        events += [event("kernel", "gemm" if number < 3 else "relu", begin + 20_000 * number, 20_000 * busy, thread=7)
                   for number in range(5)]  # fmt: skip
    return json.dumps({"schemaVersion": 1, "traceEvents": events})


class JudgeTrace(EndToEnd):
    def judge(self, path, code):
        process = self.dlcheck("judge", path)
        self.assertEqual(process.returncode, code, process.stderr)
        return process.stderr

    def write(self, text):
        path = self.folder / "run.pt.trace.json"
        path.write_text(text)
        return path

    def test_an_accelerator_that_is_idle_is_named_with_the_waits(self):
        text = " ".join(self.judge(self.write(accelerated(0.3)), 0).split())
        self.assertIn("The accelerator was idle in 70 % of a step, and the host waited 1 times for it", text)
        self.assertIn("most time: kernel gemm 60 %, kernel relu 40 %", text)

    def test_an_accelerator_that_works_passes(self):
        self.assertIn("1 check passed", self.judge(self.write(accelerated(0.9)), 0))

    def test_a_trace_that_the_profiler_wrote_names_its_operators(self):
        self.require_torch()
        path = self.folder / "cpu.pt.trace.json"
        subprocess.run([TORCH_PYTHON, "-W", "ignore", "-c", PROGRAM, path], check=True, capture_output=True)
        text = self.judge(self.folder, 5)
        self.assertIn("trace of the PyTorch profiler", text)
        self.assertIn("most time: operator ", text)
        self.assertIn("judged 3 of 3 steps", text)

    def test_a_trace_that_is_cut_off_or_compressed_is_told(self):
        whole = accelerated(0.3)
        self.assertIn("it is cut off, or no JSON", self.judge(self.write(whole[: len(whole) // 2]), 0))
        path = self.folder / "trace.json.gz"
        path.write_bytes(b"\x1f\x8b" + bytes(30))
        self.assertIn("unpack it by gunzip first", self.judge(path, 2))

    def test_a_trace_without_steps_is_one_step(self):
        events = [one for one in json.loads(accelerated(0.3))["traceEvents"] if "Step#" not in one["name"]]
        text = self.judge(self.write(json.dumps({"traceEvents": events})), 0)
        self.assertIn("it has no steps", text)
        self.assertIn("idle", text)


if __name__ == "__main__":
    unittest.main()
