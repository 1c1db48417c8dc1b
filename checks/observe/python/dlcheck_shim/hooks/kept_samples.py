"""Keeps the first rows of some batches, where the user asked for it with --samples: what a model was given, what it
gave, and the targets, at the first step, as the next passes begin, and at the first loss that is not finite.
"""

import json
import os
import sys

import torch

from ..record.owned_file import OwnedFile
from ..state.objects_alive import alive_of
from ..torch_api import tensors
from .kept_rows import ROW, copy_rows, listed

MOST_MODELS, MOST_TENSORS = 4, 4  # of a step; of the inputs or outputs of one call
MOST_PASSES = 3
MOST_BYTES = 16 << 20  # of the file


class KeptSamples:
    def __init__(self, guard, recorder):
        self.recorder, self.count = recorder, recorder.request.samples
        for name in ("given", "gave", "loss_examined", "stepped", "nonfinite", "predicted"):
            setattr(self, name, guard.isolated("samples")(getattr(self, name)))
        self.reset()

    def reset(self):
        self.file, self.passes, self.wanted, self.is_broken = None, 0, "first step", False
        self.fixed = set()  # models with a batch that stays the same
        self.calls = {}  # of the step under way, by thing of a model: [(role, kept tensor)]

    def subscribe(self, moments):
        if not self.count or self.recorder.request.experiment != "plain":
            return
        moments.begins_anew.append(self.reset)
        moments.forward_given.append(self.given)
        moments.forward_gave.append(self.gave)
        moments.loss_examined.append(self.loss_examined)
        moments.loss_is_nonfinite.append(self.nonfinite)
        moments.stepped.append(self.stepped)
        moments.pass_begins.append(self.pass_begins)

    def pass_begins(self):
        if self.wanted is None and self.passes < MOST_PASSES:
            self.passes += 1
            self.wanted = f"pass {self.passes + 1} begins"
            self.calls = {}

    def given(self, model, inputs):
        if model.thing not in self.calls and len(self.calls) < MOST_MODELS:
            self.calls[model.thing] = []
            self.keep(model.thing, "input", inputs)

    def gave(self, model, output):
        kept = self.calls.get(model.thing)
        if kept is not None and all(role != "output" for role, _ in kept):
            self.keep(model.thing, "output", values_of(output))

    def loss_examined(self, call):
        for thing, kept in self.calls.items():
            if kept and all(role != "target" for role, _ in kept):
                self.keep(thing, "target", [call.target])
                return

    def keep(self, thing, role, values):
        rows = [value for value in values if isinstance(value, torch.Tensor) and tensors.is_readable(value)]
        if not tensors.may_compute():
            return
        with tensors.unrecorded():
            self.calls[thing] += [(role, copy_rows(row, self.count)) for row in rows[:MOST_TENSORS]]

    def predicted(self, thing, inputs, outputs):
        """For one batch that stays the same; its inputs are written once."""
        self.calls = {thing: []}
        if thing not in self.fixed:
            self.fixed.add(thing)
            self.keep(thing, "input", inputs)
        self.keep(thing, "output", outputs[:1])
        self.write("predictions for a fixed batch", self.recorder.step)
        self.calls = {}

    def stepped(self):
        if self.wanted is not None and self.calls:
            self.write(self.wanted, self.recorder.step - 1)
            self.wanted = None
        self.calls = {}

    def nonfinite(self):
        if not self.is_broken and self.calls:
            self.is_broken = True
            self.write("first loss that is not finite", self.recorder.step)

    def write(self, moment, step):
        tokenizer = tokenizer_alive()
        lines = []
        for thing, kept in self.calls.items():
            for role, rows in kept:
                line = {"moment": moment, "step": step, "model": self.name_of(thing), "role": role,
                        **listed(rows)}  # fmt: skip
                if tokenizer is not None and role == "input" and are_tokens(rows):
                    line["texts"] = texts_of(tokenizer, rows)
                lines.append(json.dumps(line) + "\n")
        self.append("".join(lines).encode())

    def name_of(self, thing):
        return next((name for (_, _, name), number in self.recorder.writer.things.items() if number == thing), "")

    def append(self, data):
        if self.file is None:
            path = os.path.join(self.recorder.request.run_folder, f"samples-{os.getpid()}.jsonl")
            self.file = OwnedFile(path)
        if self.file.size + len(data) <= MOST_BYTES:
            self.file.size = self.file.append(data)


def values_of(output):
    """The parts of what a model gives: a tensor, several, or an output class of a library."""
    if hasattr(type(output), "to_tuple") and type(output).__module__.startswith("transformers."):
        output = output.to_tuple()
    if type(output) is dict:
        output = list(output.values())
    return output if type(output) in (list, tuple) else [output]


def are_tokens(rows):
    """Whole numbers from 0 on, and no mask."""
    values = rows.values
    return rows.kind == ROW and values.dtype in (torch.int32, torch.int64) and values.numel() > 0 and (
        int(values.min()) >= 0 and int(values.max()) > 1)  # fmt: skip


def texts_of(tokenizer, rows):
    try:
        return [tokenizer.decode(row) for row in rows.values.tolist()]
    except Exception:  # whatever a tokenizer says to numbers that are none of its tokens
        return []


def tokenizer_alive():
    """A tokenizer of transformers that the program holds; None without one."""
    library = sys.modules.get("transformers.tokenization_utils_base")
    base = getattr(library, "PreTrainedTokenizerBase", None)
    return None if base is None else next(iter(alive_of(base)), None)
