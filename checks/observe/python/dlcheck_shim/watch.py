"""Puts the parts of the probe together and into torch; called once, as torch has been imported."""

import atexit
import platform
import sys

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from . import experiments
from .autograd.live_graphs import LiveGraphs
from .autograd.loss_graph import watch_packing
from .distributed.collectives import Collectives
from .distributed.groups import Groups
from .distributed.peers import Peers
from .distributed.replicas import Replicas
from .distributed.saved_shards import SavedShards
from .distributed.shared_gradients import SharedGradients
from .hooks.averages import Averages
from .hooks.backward import BackwardHooks, around_backward
from .hooks.calls import Calls
from .hooks.checkpoints import Checkpoints
from .hooks.clipping import Clipping
from .hooks.crash import write_crash
from .hooks.evaluations import Evaluations
from .hooks.forward import ForwardHooks
from .hooks.host_reads import HostReads
from .hooks.loaders import Loaders
from .hooks.loss import LossHooks
from .hooks.modules import ModuleHooks
from .hooks.not_zeroed import Uncleared
from .hooks.reseeding import Reseeding
from .hooks.scalers import Scalers
from .hooks.schedulers import Schedulers
from .hooks.step import StepHooks
from .hooks.unseen import Unseen
from .record.recorder import Recorder
from .record.sites import Sites
from .state.models import Models
from .state.optimizers import Optimizers
from .torch_api.capabilities import OLDEST, unavailable, version
from .torch_api.guard import Guard
from .torch_api.wrapping import replace


class Watch:
    def __init__(self, request):
        self.met = set()  # libraries, by name
        self.recorder = recorder = Recorder(request, process_attributes())
        self.guard = Guard(self.write_failure, self.write_unseen)
        recorder.on_fork.append(self.guard.reset)
        sites = Sites(recorder)
        self.models = models = Models(recorder)
        optimizers = Optimizers(recorder, models)
        uncleared = Uncleared(recorder, optimizers)
        self.losses = LossHooks(self.guard, recorder, sites)
        self.evaluations = Evaluations(recorder, sites, self.losses)
        self.forwards = ForwardHooks(
            self.guard, recorder, sites, models, self.losses, self.evaluations
        )
        self.losses.tokens = self.forwards.tokens
        self.modules = ModuleHooks(self.forwards)
        self.steps = StepHooks(self.guard, recorder, sites, models, optimizers, uncleared)
        graphs = LiveGraphs(recorder)
        self.backwards = BackwardHooks(
            self.guard, recorder, sites, optimizers, uncleared, self.losses, self.forwards,
            self.steps, graphs,
        )  # fmt: skip
        self.calls = Calls(self.guard, recorder, sites, models, optimizers)
        reseeding = Reseeding(self.guard, recorder, sites)
        self.calls.on_seed.append(reseeding.seeded)
        self.steps.on_consume.append(reseeding.consumed)
        self.loaders = Loaders(self.guard, recorder, sites)
        enters = self.guard.isolated("fetch")(self.loaders.enters)
        self.evaluations.on_batch.append(lambda inputs: enters(inputs, always=True))
        self.forwards.on_enter.append(enters)
        self.schedulers = Schedulers(self.guard, recorder, sites, optimizers)
        self.clipping = Clipping(self.guard, recorder, sites)
        self.checkpoints = Checkpoints(self.guard, recorder, sites, models, optimizers)
        self.unseen = Unseen(self.guard, recorder)
        self.parts = [
            self.losses, self.calls, self.loaders, self.schedulers, self.clipping, self.checkpoints,
            self.unseen,
            Averages(self.guard, recorder),
            Scalers(self.guard, recorder, sites, optimizers, self.steps),
        ]  # fmt: skip
        self.watch_ranks(recorder, sites)
        self.host_reads = HostReads(self.guard, recorder, sites, self.evaluations)
        self.calls.on_change += [self.modules.wake]
        recorder.on_fork += [self.modules.wake, lambda: self.calls.end_step(True)]
        self.steps.after_each.append(self.end_step)
        models.on_new += [self.checkpoints.write_put_in, self.unseen.meet]
        self.steps.on_consume += [
            self.clipping.write, self.host_reads.consumed, lambda *_: self.schedulers.tell(),
        ]  # fmt: skip
        self.steps.on_end += [
            self.loaders.end_step, self.forwards.end_step, graphs.end_step, self.host_reads.write,
            self.unseen.write,
        ]  # fmt: skip

    def watch_ranks(self, recorder, sites):
        """What stands between the processes of a run."""
        self.groups = Groups(self.guard, recorder)
        self.replicas = Replicas(self.guard, recorder, sites, self.groups, self.models)
        self.collectives = Collectives(self.guard, recorder, sites, self.groups)
        self.collectives.on_call.append(self.replicas.called)
        self.collectives.on_call_to_one.append(self.replicas.called_to_one)
        self.peers = peers = Peers(self.guard, recorder, self.groups)
        shared = SharedGradients(self.guard, recorder, self.replicas)
        self.parts += [self.replicas, shared]
        self.backwards.after_each.append(shared.keep)
        self.forwards.on_rows += [self.evaluations.train_on, peers.trains_on]
        self.forwards.on_enter.append(peers.enters)
        self.loaders.on_begin.append(peers.begins_pass)
        self.backwards.before_sampled.append(peers.begins_backward)
        self.steps.on_consume += [shared.consumed, self.replicas.consumed, peers.consumed]
        self.steps.after_each.append(peers.ends_step)
        self.evaluations.on_first.append(self.replicas.evaluated)
        self.checkpoints.on_saved.append(SavedShards(self.guard, recorder, self.groups).saved)

    def begin(self):
        if version() < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            self.recorder.begin()
            self.write_failure("version", f"torch {torch.__version__} is older than {oldest}")
            return
        experimenting = self.recorder.request.experiment != "plain"
        ending = experiments.Ending(self.recorder)
        if experimenting:
            experiments.keep_files_safe(self.recorder.request, ending)
        self.steps.before_first_end.append(self.losses.write_initial)
        self.modules.install()
        watch_packing()
        replace([torch.autograd], "backward", around_backward(self.backwards))
        self.watch_optimizers()
        for part in self.parts:
            self.guard.isolated(type(part).__name__, anywhere=True)(part.watch_all)()
        for name in self.reactions():
            if name in sys.modules:
                self.arrived(sys.modules[name])
        steps = self.recorder.request.steps
        if steps is not None:
            self.steps.after_each.append(lambda: ending.stop_after(steps))
        if experimenting:
            experiments.begin(self.recorder.request, self, ending)
        atexit.register(self.guard.isolated("exit", anywhere=True)(self.exit))

    def reactions(self):
        """Functions that take a library's module as it is imported, by its name."""
        return {
            "numpy": self.calls.watch_numpy,
            "safetensors.torch": self.checkpoints.watch_safetensors,
            "torch.distributed": self.meet,
        }

    def arrived(self, module):
        """A library is there; where torch was first, it is told of it twice."""
        react = self.reactions()[module.__name__]
        if module.__name__ not in self.met:
            self.met.add(module.__name__)
            react(module)

    def meet(self, distributed):
        self.groups.watch(distributed)
        self.collectives.watch(distributed)

    def end_step(self):
        """Hooks that say something in sampled steps alone come and go with them."""
        sampled = self.recorder.sampled
        self.modules.end_step(sampled)
        self.calls.end_step(sampled)
        self.host_reads.end_step(sampled)

    def begin_again(self, request):
        """For another run of this process, of which nothing is known yet."""
        self.recorder.request = request
        self.recorder.forget()

    def end(self):
        self.guard.isolated("exit", anywhere=True)(self.finish)()
        self.recorder.asleep = True
        self.recorder.sampled = self.recorder.detailed = self.recorder.digests = False
        self.modules.end_step(False)
        self.calls.end_step(False)
        self.host_reads.end_step(False)

    def exit(self):
        if self.recorder.opened:
            self.guard.isolated("crash", anywhere=True)(write_crash)(self.recorder)
        self.finish()

    def finish(self):
        if self.recorder.opened:
            # Where one of them fails, the others still have their say, and the records their end.
            for name, end in (("evaluations", self.evaluations.end), ("unseen", self.unseen.write),
                              ("peers", self.peers.begins_pass), ("groups", self.groups.write_end)):  # fmt: skip
                self.guard.isolated(f"end of {name}", anywhere=True)(end)()
        self.recorder.finish()

    def watch_optimizers(self):
        register_optimizer_step_pre_hook(self.steps.before)
        register_optimizer_step_post_hook(self.steps.after)

    def write_failure(self, family, error):
        text = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else error
        self.recorder.attribute(0, f"hook_failed/{family}", text)

    def write_unseen(self, threads):
        self.recorder.attribute(0, "unseen_threads", threads)


def process_attributes():
    return {
        "capabilities": " ".join(("plain", *experiments.EXPERIMENTS)),
        "torch": torch.__version__,
        "unavailable": " ".join(unavailable()),
        "python": platform.python_version(),
        "program": sys.argv[0] if sys.argv else "",
    }
