"""What surrounds the training, for a comparison of two runs: the source of the program, as a digest, and the
machine.
"""

import hashlib
import platform

import torch

from ..record.sites import OWN, kind_of
from ..source.trees import source_of
from ..state import walking
from ..system import open_file
from ..torch_api.attributes import attribute

MOST_FILES = 256
DIGITS = 16  # hexadecimal ones of a digest


class Surroundings:
    def __init__(self, guard, recorder, sites, models):
        self.recorder, self.sites, self.models = recorder, sites, models
        self.write_devices = guard.isolated("devices")(self.write_devices)

    def subscribe(self, moments):
        moments.first_step_ends.append(self.write_devices)

    def write_devices(self):
        """Before the models are gone."""
        kinds = sorted({parameter.device.type for parameter, _ in self.models.parameters.items()})
        if "cuda" in kinds:
            kinds.append(torch.cuda.get_device_name())
        if kinds:
            self.recorder.attribute(0, "devices", ", ".join(kinds))

    def write(self):
        """As the run ends."""
        for key, value in (("source", self.source()), ("machine", machine()),
                           ("threads", str(torch.get_num_threads()))):  # fmt: skip
            if value:
                self.recorder.attribute(0, key, value)

    def source(self):
        """The same for the same files, wherever they are. Only of files that were seen at work; empty for a program
        that stands in none, as with `python -c`."""
        files = self.sites.own_files() | self.files_of_models()
        sources = filter(None, map(source_of, sorted(files)[:MOST_FILES]))
        parts = sorted(hashlib.sha256(source).digest() for source in sources)
        return hashlib.sha256(b"".join(parts)).hexdigest()[:DIGITS] if parts else ""

    def files_of_models(self):
        kinds = {type(module) for root, _ in self.models.roots.items() for module in walking.modules(root)}
        codes = (attribute(vars(kind).get("forward"), "__code__", None) for kind in kinds)
        return {code.co_filename for code in codes if code is not None and kind_of(code.co_filename) == OWN}


def machine():
    """ "x86_64, AMD EPYC 7R13"."""
    parts = [platform.machine()]
    try:
        with open_file("/proc/cpuinfo", "rb") as file:
            lines = file.read(1 << 16).decode(errors="replace").splitlines()
    except OSError:
        lines = []
    parts += [line.partition(":")[2].strip() for line in lines if line.startswith("model name")][:1]
    return ", ".join(parts)
