"""What a run that is not plain does differently; only here may the probe change what the program
does.

`same_seed`        only ends after some steps;
`one_batch`        trains on the batches of the first step, under the reference optimizer, without dropout;
`reference`        replaces the program's optimizer by the reference optimizer;
`mean_inputs`      as `reference`, and replaces every input by the mean input;
`shuffled_labels`  as `reference`, and permutes the labels within each batch;
`limited_data`     ends every pass over a loader after its first few batches;
`trials`           tests a copy of each model between two steps;
`fixed_batch`      repeats the batches of the second step under fixed weights, then permutes them, or moves
                   the weights along the gradient;
`interrupted`      ends some steps after the program saved its state, and keeps what it wrote;
`resumed`          starts among the files of the interrupted run, for as many steps;
`multi_process`    keeps the first step of every rank for the next experiment;
`single_process`   gives one process the batches of all ranks in that step;
`zero_lr`          sets every learning rate to 0, without dropout;
`replay`           watches every operation of one step.
What cannot be carried out is refused: process attribute `refused` says why, and the process ends.
"""

import atexit
import os
import sys

from ..state.program_state import ProgramState
from .fixed_batch.run import Held
from .isolation.artifacts import Artifacts
from .replay.run import Replay
from .substitution.limited_data import LimitedData
from .substitution.reference_optimizer import ReferenceOptimizers
from .substitution.shuffled_labels import ShuffledLabels
from .substitution.substitutes import Blind, OneBatch, switch_dropout_off
from .trials.run import Trials
from .world_size.apart import Apart
from .world_size.joined import Joined
from .zero_lr.zero_lr import ZeroRate


def keep_files_safe(request, ending):
    """To be called first, so that records name the files as the program does. Nothing is to be done
    where the system gave this process files of its own (checks/observe/launcher/private_files.h)."""
    if os.environ.get("DLCHECK_PRIVATE_FILES") == "1":
        return
    if request.experiment in ("interrupted", "resumed"):
        ending.refuse("this system cannot give the experiment a private copy of the files")
    artifacts = Artifacts(ending.recorder, ending.refuse)
    artifacts.redirect()
    ending.before_leaving.append(artifacts.files.clear)
    atexit.register(artifacts.files.clear)


def only_end(request, watch, ending):
    """The program as it is; it ends after the steps that were asked for."""


def take_reference_optimizer(request):
    ReferenceOptimizers(request.reference_rate).take_over()


def one_batch(request, watch, ending):
    take_reference_optimizer(request)
    switch_dropout_off()
    OneBatch(watch, ending.refuse).begin()


def mean_inputs(request, watch, ending):
    take_reference_optimizer(request)
    Blind(watch, ending.refuse).begin()


def shuffled_labels(request, watch, ending):
    take_reference_optimizer(request)
    ShuffledLabels(watch, ending.refuse).begin()


def stop_at_save(request, watch, ending):
    ProgramState(watch, request.saved_step).begin()


# What each experiment changes, by the name that a request gives it.
EXPERIMENTS = {
    "same_seed": only_end,
    "one_batch": one_batch,
    "reference": lambda request, watch, ending: take_reference_optimizer(request),
    "mean_inputs": mean_inputs,
    "shuffled_labels": shuffled_labels,
    "limited_data": lambda request, watch, ending: LimitedData(watch, ending.refuse).begin(),
    "trials": lambda request, watch, ending: Trials(watch).begin(),
    "fixed_batch": lambda request, watch, ending: Held(watch, ending).begin(),
    "interrupted": stop_at_save,
    "resumed": stop_at_save,
    "replay": lambda request, watch, ending: Replay(watch, request, ending).begin(),
    "multi_process": lambda request, watch, ending: Apart(watch, request.run_folder, ending.refuse).begin(),
    "single_process": lambda request, watch, ending: Joined(watch, request.other_folder, ending.refuse).begin(),
    "zero_lr": lambda request, watch, ending: ZeroRate(watch, ending).begin(),
}


def begin(request, watch, ending):
    if request.experiment not in EXPERIMENTS:
        ending.refuse(f"the probe does not know experiment '{request.experiment}'")
    EXPERIMENTS[request.experiment](request, watch, ending)


class Ending:
    def __init__(self, recorder):
        self.recorder, self.before_leaving = recorder, []

    def stop_after(self, steps):
        if self.recorder.step >= steps:
            self.stop()

    def stop(self):
        self.recorder.event("stopped", always=True)
        self.leave()

    def refuse(self, reason):
        self.recorder.begin()
        self.recorder.attribute(0, "refused", reason)
        self.leave()

    def leave(self):
        """Ends the process at once: no handler of the program may write over what it would not
        have."""
        self.recorder.finish()
        for function in self.before_leaving:
            function()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass
        os._exit(0)

