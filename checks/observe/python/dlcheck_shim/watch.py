"""Puts the parts of the probe together and into torch; called once, as torch has been imported."""

import atexit
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
from .hooks.built import Built
from .hooks.calls import Calls
from .hooks.captured import Captured
from .hooks.checkpoints import Checkpoints
from .hooks.clipped_actions import ClippedActions
from .hooks.clipping import Clipping
from .hooks.comparisons import Comparisons
from .hooks.copies_evaluated import CopiesEvaluated
from .hooks.crash import write_crash
from .hooks.dropout import DropoutHooks
from .hooks.empty_loops import EmptyLoops
from .hooks.evaluations import Evaluations
from .hooks.forward import ForwardHooks
from .hooks.frozen_networks import FrozenNetworks
from .hooks.gradient_factor import GradientFactor
from .hooks.graph_cuts import GraphCuts
from .hooks.graph_scan import GraphScan
from .hooks.host_reads import HostReads
from .hooks.idle_statements import IdleStatements
from .hooks.ignored_in_mean import IgnoredInMean
from .hooks.kept_samples import KeptSamples
from .hooks.layer_inputs import LayerInputs
from .hooks.loaders import Loaders
from .hooks.loss import LossHooks
from .hooks.loss_listeners import loss_listeners
from .hooks.loss_targets import LossTargets
from .hooks.mean_losses import MeanLosses
from .hooks.metrics import Metrics
from .hooks.modules import ModuleHooks
from .hooks.modules_met import ModulesMet
from .hooks.not_zeroed import Uncleared
from .hooks.padded_means import PaddedMeans
from .hooks.penalties import Penalties
from .hooks.plateaus import Plateaus
from .hooks.raised_calls import RaisedCalls
from .hooks.reseeding import Reseeding
from .hooks.scalers import Scalers
from .hooks.schedulers import Schedulers
from .hooks.sequence_layers import SequenceLayers
from .hooks.step import StepHooks
from .hooks.step_parts import StepParts
from .hooks.strangers import Strangers
from .hooks.surroundings import Surroundings
from .hooks.torch_options import TorchOptions
from .hooks.unscaled_half import UnscaledHalf
from .hooks.unseen import Unseen
from .hooks.unused_losses import UnusedLosses
from .hooks.weights_met import WeightsMet
from .loggers import LOGGERS
from .process import process_attributes
from .record.recorder import Recorder
from .record.sites import Sites
from .state.models import Models
from .state.optimizers import Optimizers
from .torch_api.capabilities import OLDEST, version
from .torch_api.guard import Guard
from .torch_api.wrapping import put_all_in, register, replace, take_all_out


class Watch:
    """All parts of the probe. Each is made here, subscribes to the moments that it wants to hear of, and
    puts itself into torch with `watch_all`."""

    def __init__(self, request):
        self.met = set()  # libraries, by name
        self.recorder = recorder = Recorder(request, process_attributes())
        self.moments = recorder.moments
        self.guard = Guard(self.write_failure, self.write_unseen)
        self.moments.begins_anew.append(self.guard.reset)
        sites = Sites(recorder)
        self.models = Models(recorder, self.guard)
        self.make_hooks(recorder, sites)
        self.make_rank_hooks(recorder, sites)
        self.subscribe_all()

    def make_hooks(self, recorder, sites):
        guard, models = self.guard, self.models
        optimizers = Optimizers(guard, recorder, models)
        uncleared = Uncleared(recorder, optimizers)
        raised = self.raised = RaisedCalls(guard, recorder)
        self.losses, self.loaders = LossHooks(guard, recorder, sites, raised), Loaders(guard, recorder, sites)
        self.evaluations = Evaluations(recorder, sites, self.losses, self.loaders)
        cuts = self.cuts = GraphCuts(guard, recorder, sites)
        sequences = self.sequences = SequenceLayers(guard, recorder, sites, self.losses.last_batch,
                                                     self.loaders)  # fmt: skip
        strangers = Strangers(guard, recorder, self.evaluations, FrozenNetworks(guard, recorder, sites, models),
                              CopiesEvaluated(guard, recorder, sites, models))  # fmt: skip
        layers = (sequences, LayerInputs(guard, recorder, sites), strangers)
        self.scan = GraphScan(guard, recorder, sites, self.losses.last_batch)
        self.forwards = ForwardHooks(guard, recorder, sites, models, self.losses, self.evaluations,
                                     self.scan, raised, layers, cuts)  # fmt: skip
        self.modules = ModuleHooks(self.forwards)
        self.dropout = DropoutHooks(guard, recorder, sites, self.forwards)
        self.steps = StepHooks(guard, recorder, sites, models, optimizers, uncleared)
        self.graphs, self.unused = LiveGraphs(recorder), UnusedLosses(guard, recorder, sites)
        ignored, means = IgnoredInMean(guard, recorder, sites), MeanLosses(guard, recorder)
        half = UnscaledHalf(guard, recorder, sites, self.forwards)
        listeners = loss_listeners(guard, recorder, sites, self.losses.last_batch, self.loaders)
        self.of_losses = (*listeners, ignored, means)
        padded, self.penalties = (kind(guard, recorder, sites, self.losses) for kind in (PaddedMeans, Penalties))
        self.loss_targets, self.actions = LossTargets(guard, recorder, sites), ClippedActions(guard, recorder, sites)
        looks = tuple(part.reached_by for part in (self.unused, ignored, half, means, padded, self.penalties))
        self.captured = Captured(guard, recorder)
        looks += (self.scan.scan, *self.captured.looks())
        self.backwards = BackwardHooks(guard, recorder, sites, optimizers, uncleared, self.losses,
                                       self.forwards, self.steps, self.graphs, raised, looks)  # fmt: skip
        self.calls = Calls(guard, recorder, sites, models, optimizers)
        self.reseeding, self.built, self.plateaus = (kind(guard, recorder, sites) for kind in (Reseeding, Built, Plateaus))
        self.schedulers = Schedulers(guard, recorder, sites, optimizers, self.plateaus)
        self.clipping = Clipping(guard, recorder, sites)
        self.factor = GradientFactor(guard, recorder, sites, optimizers, self.clipping)
        self.checkpoints = Checkpoints(guard, recorder, sites, models, optimizers)
        self.unseen = Unseen(guard, recorder)
        self.source, self.met_weights = IdleStatements(recorder, sites), WeightsMet(guard, recorder, models)
        self.options, self.empty = TorchOptions(guard, recorder, sites), EmptyLoops(guard, recorder, sites, self.loaders)
        self.metrics, self.parts = Metrics(guard, recorder, sites), StepParts(guard, recorder)
        self.kept = KeptSamples(guard, recorder)
        self.averages, self.surroundings = Averages(guard, recorder, self.built), Surroundings(guard, recorder, sites, models)
        self.scalers = Scalers(guard, recorder, sites, optimizers, self.steps, self.built)
        self.host_reads = HostReads(guard, recorder, sites, self.evaluations)
        self.compared = Comparisons(self, sites, optimizers)

    def make_rank_hooks(self, recorder, sites):
        """What stands between the processes of a run."""
        self.groups = Groups(self.guard, recorder)
        self.replicas = Replicas(self.guard, recorder, sites, self.groups, self.models)
        self.collectives = Collectives(self.guard, recorder, sites, self.groups)
        self.peers = Peers(self.guard, recorder, self.groups)
        self.shared_gradients = SharedGradients(self.guard, recorder, self.replicas)
        self.saved_shards = SavedShards(self.guard, recorder, self.groups)

    def subscribe_all(self):
        """Of several parts that hear of the same moment, the first one here is called first."""
        for part in (
            self.losses, self.evaluations, self.loaders, self.reseeding, self.shared_gradients,
            self.replicas, self.peers, self.factor, self.clipping, self.forwards, self.graphs, self.host_reads,
            self.schedulers, self.checkpoints, self.saved_shards, self.unseen, self.modules, self.calls,
            self.built, self.source, self.scan, self.unused, self.raised, self.met_weights, self.options, *self.of_losses,
            self.empty, ModulesMet(self.guard, self.recorder, self.models),
            self.sequences, self.cuts, self.penalties, *self.compared.parts, self.surroundings, self.parts, self.kept,
            self.captured,
        ):  # fmt: skip
            part.subscribe(self.moments)

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
        self.modules.install()
        watch_packing()
        replace([torch.autograd], "backward", around_backward(self.backwards))
        self.watch_optimizers()
        for part in self.parts_in_torch():
            self.guard.isolated(type(part).__name__, anywhere=True)(part.watch_all)()
        for name in self.reactions():
            if name in sys.modules:
                self.arrived(sys.modules[name])
        steps = self.recorder.request.steps
        if steps is not None:
            self.moments.stepped.append(lambda: ending.stop_after(steps))
        if experimenting:
            experiments.begin(self.recorder.request, self, ending)
        atexit.register(self.guard.isolated("exit", anywhere=True)(self.exit))

    def parts_in_torch(self):
        """Those that put calls into functions of torch, in the order in which they do so."""
        return (
            self.built, self.losses, self.calls, self.loaders, self.schedulers, self.clipping, self.checkpoints,
            self.unseen, self.averages, self.scalers, self.replicas, self.shared_gradients, self.dropout,
            self.options, self.parts, self.penalties, self.loss_targets, self.actions, self.sequences, *self.compared.in_torch,
        )  # fmt: skip

    def reactions(self):
        """Functions that take a library's module as it is imported, by its name."""
        return {
            "gymnasium.wrappers.common": self.compared.limits.watch,
            "numpy": self.calls.watch_numpy,
            "safetensors.torch": self.checkpoints.watch_safetensors,
            "torch.distributed": self.meet,
            **dict.fromkeys(LOGGERS, self.metrics.watch_loggers),
        }

    def arrived(self, module):
        """A library is there; where torch was first, it is told of it twice."""
        react = self.reactions()[module.__name__]
        if module.__name__ not in self.met:
            self.met.add(module.__name__)
            react(module)
            if self.recorder.asleep:
                take_all_out()

    def meet(self, distributed):
        self.groups.watch(distributed)
        self.collectives.watch(distributed)

    def begin_again(self, request):
        """For another run of this process, of which nothing is known yet."""
        self.recorder.request = request
        put_all_in()
        self.recorder.forget()

    def end(self):
        self.guard.isolated("exit", anywhere=True)(self.finish)()
        self.recorder.asleep = True
        self.recorder.sampled = self.recorder.detailed = self.recorder.digests = False
        self.modules.end_step(False)
        self.calls.end_step(False)
        self.host_reads.end_step(False)
        take_all_out()

    def exit(self):
        if self.recorder.opened:
            self.guard.isolated("crash", anywhere=True)(write_crash)(self.recorder)
        self.finish()

    def finish(self):
        if self.recorder.opened:
            # Where one of them fails, the others still have their say, and the records their end.
            parts = {"source": self.source, "options": self.options, "lines": self.backwards.lines, "loops": self.empty,
                     "plateaus": self.plateaus, "surroundings": self.surroundings, **self.compared.at_end}  # fmt: skip
            for name, end in (("evaluations", self.evaluations.finish), ("unseen", self.unseen.write),
                              ("peers", self.peers.begins_pass), ("groups", self.groups.write_end), ("rows", lambda: self.moments.run_ends()),
                              *((name, part.write) for name, part in parts.items())):  # fmt: skip
                self.guard.isolated(f"end of {name}", anywhere=True)(end)()
        self.recorder.finish()

    def watch_optimizers(self):
        register(register_optimizer_step_pre_hook, self.steps.before)
        register(register_optimizer_step_post_hook, self.steps.after)

    def write_failure(self, family, error):
        text = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else error
        self.recorder.attribute(0, f"hook_failed/{family}", text)

    def write_unseen(self, threads):
        self.recorder.attribute(0, "unseen_threads", threads)
