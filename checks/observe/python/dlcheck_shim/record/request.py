"""What the supervisor asks of this process, read from the file beside the boot code.

The keys are those of checks/records/request.h; unknown ones are passed over.
"""

import os

from ..system import open_file
from .line_file import parse_lines


class Request:
    def __init__(self, values):
        self.run_folder = values["run_folder"]
        self.run = values.get("run", "")
        self.experiment = values.get("experiment", "plain")
        end = values.get("end_step", values.get("steps"))
        self.steps = None if end is None else int(end)
        # Steps that are recorded in full, beside the sampled ones.
        self.whole = range(int(values.get("whole_first", 0)), int(values.get("whole_last", -1)) + 1)
        self.saved_step = int(values.get("saved_step", 0))
        self.other_folder = values.get("other_folder", "")
        self.samples = int(values.get("samples", 0))  # of a batch, kept for the report
        self.capture = int(values.get("capture", 0))  # steps whose batches are kept whole
        self.keeps_batch = values.get("keep_batch") == "1"
        self.reference_rate = float(values.get("reference_rate", 1e-3))
        self.size_cap_bytes = int(values.get("size_cap_bytes", 256 << 20))
        # Of the process in which all experiments begin: the descriptor by which it is told of them.
        self.channel = int(values["channel"]) if "channel" in values else None
        self.supervisor = int(values.get("supervisor", 0))  # the number of the process that tells it

    def take(self, other):
        vars(self).update(vars(other))


def read_request(folder):
    """Raises KeyError, OSError or ValueError; the boot code treats each as 'not asked'."""
    path = os.path.join(folder, "request")
    with open_file(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        lines = parse_lines(file.read())
    return Request({fields[0]: fields[1] for fields in lines if len(fields) > 1})
