"""All faults that are planted in the hosts; each module of `faults` adds its own."""

from faults import (  # noqa: F401
    arithmetic,
    axes,
    budget,
    checkpoints,
    classes,
    data,
    dependence,
    evaluations,
    functions,
    gradients,
    layers,
    losses,
    optimizers,
    parts,
    passing,
    precision,
    rewards,
    schedules,
    slopes,
    splits,
    statements,
    terms,
    windows,
)
from planting import FAULTS, planted  # noqa: F401
