"""What the records say of the process that they are of."""

import platform
import sys

import torch

from . import experiments
from .torch_api.capabilities import unavailable


def process_attributes():
    return {
        "capabilities": " ".join(("plain", *experiments.EXPERIMENTS)),
        "torch": torch.__version__,
        "unavailable": " ".join(unavailable()),
        "python": platform.python_version(),
        "program": sys.argv[0] if sys.argv else "",
    }
