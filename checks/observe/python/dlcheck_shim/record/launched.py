"""How many processes train together, as far as a launcher says so."""

import os
import sys


def launched_ranks():
    """Attributes of the process, from the environment alone."""
    return ranks_attribute(os.environ.get("WORLD_SIZE", ""))


def ranks_attribute(size):
    """Accelerate steps schedulers once per process on purpose, and is not counted."""
    return {} if size in ("", "1") or "accelerate" in sys.modules else {"world_size": size}
