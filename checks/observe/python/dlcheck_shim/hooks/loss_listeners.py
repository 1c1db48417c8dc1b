"""The parts of the probe that look at each call of a loss function in training, and need nothing of each other."""

from .class_axis import ClassAxis
from .confused_classes import ConfusedClasses
from .cut_rows import CutRows
from .identical_views import IdenticalViews
from .ignored_within import IgnoredWithin
from .loss_precision import LossPrecision
from .misaligned_masks import MisalignedMasks
from .noising import Noising
from .open_ends import OpenEnds
from .own_pairs import OwnPairs
from .pair_order import PairOrder
from .reordered_targets import ReorderedTargets
from .reordered_tokens import ReorderedTokens
from .repeated_rows import RepeatedRows
from .same_rows import SameRows
from .soft_targets import SoftTargets
from .target_classes import TargetClasses
from .target_gradients import TargetGradients
from .target_scales import TargetScales
from .targets_among_inputs import TargetsAmongInputs
from .text_across_batch import TextAcrossBatch
from .unrelated_noise import UnrelatedNoise


def loss_listeners(guard, recorder, sites, last_batch, loaders):
    """In the order in which they hear of a call."""
    return (
        TargetClasses(recorder, sites, last_batch),
        LossPrecision(recorder),
        RepeatedRows(recorder),
        OpenEnds(recorder, sites, last_batch),
        SameRows(recorder, sites),
        CutRows(recorder, sites, last_batch),
        ReorderedTargets(guard, recorder, sites, loaders),
        TargetGradients(recorder, sites),
        OwnPairs(recorder, sites),
        ClassAxis(recorder, sites),
        TargetsAmongInputs(recorder, sites, last_batch),
        IgnoredWithin(recorder, sites, last_batch),
        TargetScales(recorder, sites),
        ConfusedClasses(guard, recorder, sites),
        PairOrder(recorder, sites),
        SoftTargets(recorder, sites),
        ReorderedTokens(recorder, sites, last_batch),
        UnrelatedNoise(recorder, sites),
        Noising(guard, recorder, sites),
        IdenticalViews(recorder, sites),
        MisalignedMasks(guard, recorder, sites, loaders),
        TextAcrossBatch(recorder, sites),
    )
