"""All faults that are planted in programs of frameworks; each module adds its own."""

from framework_faults import (  # noqa: F401
    accelerate,
    compiled,
    deepspeed,
    distributed,
    lightning,
    sharded,
    trainer,
)
from planting import FAULTS  # noqa: F401
