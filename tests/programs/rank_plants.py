"""All faults that are planted in programs of several processes; each module adds its own."""

from planting import FAULTS  # noqa: F401
from rank_faults import calls, copies, data, replicas, saves, scales  # noqa: F401
