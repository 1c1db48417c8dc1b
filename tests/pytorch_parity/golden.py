"""Goldens: what this project's C++ works out, against the Python of the same torch, bit by bit.

A golden gives the same cases to golden_subject (tests/pytorch_parity/subject) and to a reference in
Python, and compares what both put out. It also names deviations, the ways in which the C++ can be
wrong on purpose, and must notice each: a comparison that cannot fail proves nothing. One module an
area lists its goldens in GOLDENS; they are tests (`test_case`), and ci/goldens prints them as a
table.
"""

import atexit
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable

import torch

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/programs"))
from drawing import drawn  # noqa: E402, F401

SUBJECT = pathlib.Path(os.environ.get("GOLDEN_SUBJECT", SOURCE / "build/tests/golden_subject"))

Tensors = dict[str, torch.Tensor]
torch.set_num_threads(1)


class Subject:
    """The process that runs the C++ side, started once for all goldens."""

    process = None
    folder = None

    @classmethod
    def start(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="dlcheck-goldens-")
        cls.process = subprocess.Popen([SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
        atexit.register(cls.stop)

    @classmethod
    def stop(cls):
        cls.process.stdin.close()
        cls.process.wait()
        cls.process.stdout.close()
        cls.folder.cleanup()

    @classmethod
    def run(cls, name, parameters, inputs) -> Tensors:
        if cls.process is None:
            cls.start()
        given, put_out = (pathlib.Path(cls.folder.name) / file for file in ("in.pt", "out.pt"))
        torch.save(inputs, given)
        words = [name, str(given), str(put_out), *(f"{key}={value}" for key, value
                                                   in parameters.items())]
        cls.process.stdin.write("\t".join(words) + "\n")
        cls.process.stdin.flush()
        answer = cls.process.stdout.readline().strip()
        if answer != "ok":
            raise RuntimeError(f"{name} {parameters}: {answer or 'the subject died'}")
        return torch.load(put_out, weights_only=False)


def _pairs(ours, theirs):
    """Tensors of the same name; an error if names, shapes or types are not the same."""
    if ours.keys() != theirs.keys():
        raise ValueError(f"names differ: {sorted(ours.keys() ^ theirs.keys())}")
    for name, tensor in theirs.items():
        if ours[name].shape != tensor.shape:
            raise ValueError(f"{name}: shape {ours[name].shape} against {tensor.shape}")
        yield ours[name].detach().reshape(-1), tensor.detach().reshape(-1)


_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def different_bits(ours: Tensors, theirs: Tensors) -> float:
    """How many numbers are not the same to the last bit; a tensor of another type differs whole."""
    count = 0
    for a, b in _pairs(ours, theirs):
        if a.dtype != b.dtype:
            count += b.numel()
            continue
        as_bits = _BITS[a.element_size()]
        count += int((a.view(as_bits) != b.view(as_bits)).sum())
    return float(count)


def relative(ours: Tensors, theirs: Tensors) -> float:
    """The largest difference relative to theirs, or to the smallest normal number."""
    worst = 0.0
    for a, b in _pairs(ours, theirs):
        a, b = a.double(), b.double()
        difference = (a - b).abs() / b.abs().clamp_min(torch.finfo(torch.float64).tiny)
        worst = max(worst, float(difference.max()))
    return worst


def relative_to_largest(ours: Tensors, theirs: Tensors) -> float:
    """The largest difference relative to the largest number of the tensor it is in."""
    worst = 0.0
    for a, b in _pairs(ours, theirs):
        a, b = a.double(), b.double()
        difference = (a - b).abs().max() / b.abs().max().clamp_min(torch.finfo(torch.float64).tiny)
        worst = max(worst, float(difference))
    return worst


def absolute(ours: Tensors, theirs: Tensors) -> float:
    """The largest difference."""
    return max(float((a.double() - b.double()).abs().max()) for a, b in _pairs(ours, theirs))


@dataclasses.dataclass
class Golden:
    """What holds, how it is measured, and what must break it."""

    id: str
    holds: str  # of the subject, against what: a name for a test and a line of the table
    subject: str
    cases: dict[str, dict]  # by name: parameters, the same for both sides
    inputs: Callable[[dict], Tensors]
    reference: Callable[[dict, Tensors], Tensors]
    # Each a value of the subject's parameter `deviation`, or a dictionary of parameters.
    deviations: tuple = ()
    measure: Callable[[Tensors, Tensors], float] = different_bits
    bound: float = 0.0
    reason: str = ""  # of a bound above 0

    def __post_init__(self):
        if (self.bound > 0) != bool(self.reason):
            raise ValueError(f"{self.id}: a bound above 0 needs a reason, and no other does")
        self._known = {}  # reference and inputs by case

    def _expected(self, name):
        if name not in self._known:
            inputs = self.inputs(self.cases[name])
            self._known[name] = inputs, self.reference(self.cases[name], inputs)
        return self._known[name]

    def distance(self, name, changes=None):
        """Of one case, with the C++ side's parameters changed."""
        inputs, expected = self._expected(name)
        ours = Subject.run(self.subject, {**self.cases[name], **(changes or {})}, inputs)
        return self.measure(ours, expected)

    def worst(self):
        return max(self.distance(name) for name in self.cases)

    def notices(self, deviation):
        """Whether a case leaves the bound if the C++ side deviates."""
        changes = deviation if isinstance(deviation, dict) else {"deviation": deviation}
        # Not `>`: a distance that is not a number is no agreement.
        return any(not self.distance(name, changes) <= self.bound for name in self.cases)


def name_of(deviation):
    if isinstance(deviation, dict):
        return " ".join(f"{key} {value}" for key, value in deviation.items())
    return deviation


def _as_name(words):
    return "_".join("".join(c if c.isalnum() else " " for c in words).split())


def _agrees(golden):
    def test(self):
        for name in golden.cases:
            with self.subTest(name):
                self.assertLessEqual(golden.distance(name), golden.bound)
    return test


def _notices(golden, deviation):
    def test(self):
        self.assertTrue(golden.notices(deviation))
    return test


def test_case(goldens):
    """A TestCase that holds each golden to its bound and to each of its deviations."""
    tests = {}
    for golden in goldens:
        start = f"test_{golden.id}_{_as_name(golden.holds)}"
        tests[start] = _agrees(golden)
        for deviation in golden.deviations:
            noticed = _as_name(name_of(deviation))
            tests[f"{start}_and_notices_{noticed}"] = _notices(golden, deviation)
    return type("Goldens", (unittest.TestCase,), tests)
