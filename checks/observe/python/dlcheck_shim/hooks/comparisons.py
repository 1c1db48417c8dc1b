"""Puts together the parts of the probe that compare the numbers of a run with each other."""

from .aliased_averages import AliasedAverages
from .broadcast_metrics import BroadcastMetrics
from .conditional_steps import ConditionalSteps
from .copied_ties import CopiedTies
from .detached_networks import DetachedNetworks
from .drawn_samples import DrawnSamples
from .edited_rows import EditedRows
from .frozen_by_name import FrozenByName
from .frozen_weights import FrozenWeights
from .identical_rows import IdenticalRows
from .input_scales import InputScales
from .interpolated_classes import InterpolatedClasses
from .kept_worst import KeptWorst
from .metric_divisors import MetricDivisors
from .no_evaluation import NoEvaluation
from .own_statistics import OwnStatistics
from .repeated_samples import RepeatedSamples
from .returns_across import ReturnsAcross
from .step_arithmetic import StepArithmetic
from .terminal_values import TerminalValues
from .thresholds import Thresholds
from .time_limits import TimeLimits
from .uninitialized_momentum import UninitializedMomentum
from .unkept_actions import UnkeptActions
from .unreset_metrics import UnresetMetrics


class Comparisons:
    def __init__(self, watch, sites, optimizers):
        """`watch` has made the parts that these ask."""
        guard, recorder, loaders, models = watch.guard, watch.recorder, watch.loaders, watch.models
        drawn, thresholds = DrawnSamples(guard, recorder, sites, loaders), Thresholds(guard, recorder, sites)
        masks, unkept = InterpolatedClasses(guard, recorder, sites), UnkeptActions(guard, recorder, sites)
        no_evaluation = NoEvaluation(guard, recorder, watch.evaluations, watch.forwards)
        unreset, divisors = UnresetMetrics(guard, recorder, sites, watch.evaluations), MetricDivisors(guard, recorder, sites)
        broadcast, worst = BroadcastMetrics(guard, recorder, sites), KeptWorst(recorder, divisors)
        self.limits = TimeLimits(guard, recorder, sites)
        self.parts = (
            FrozenWeights(guard, recorder, models), CopiedTies(guard, recorder, models), FrozenByName(guard, recorder, sites, models),
            EditedRows(guard, recorder, sites), no_evaluation, RepeatedSamples(guard, recorder, loaders),
            InputScales(guard, recorder, sites, watch.forwards), OwnStatistics(guard, recorder, sites, watch.evaluations),
            DetachedNetworks(guard, recorder, sites, watch.forwards), AliasedAverages(guard, recorder, models),
            StepArithmetic(guard, recorder, sites, optimizers), watch.scalers, masks, thresholds,
            unreset, divisors, broadcast, TerminalValues(guard, recorder, sites), IdenticalRows(guard, recorder, sites),
            unkept, ReturnsAcross(guard, recorder, sites), self.limits, UninitializedMomentum(guard, recorder, sites),
        )  # fmt: skip
        # Those that put calls into functions of torch, and those that look at the source as the run ends.
        self.in_torch = (drawn, unkept, masks)
        self.at_end = {"samples": drawn, "evaluation": no_evaluation, "conditions": ConditionalSteps(recorder, sites, watch.schedulers),
                       "thresholds": thresholds, "accumulated": unreset, "divisors": divisors,
                       "broadcast": broadcast, "worst": worst}  # fmt: skip
