"""Counts what ran where no hook looks: graphs that torch compiled, replays of captured graphs, and
modules that run as one call, as scripted, traced and exported ones do.

Inside them no module and no loss function is seen, no optimizer step, and not where a value was born
that is not finite. Of a compiled model the outermost call is seen; of a compiled function that calls
a model, nothing but the gradients it leaves.
"""

import sys

import torch

from ..record.identity import IdentityMap
from ..state import walking
from ..torch_api import private
from ..torch_api.capabilities import is_compiling
from ..torch_api.wrapping import Around, only_before, replace


class Unseen:
    def __init__(self, guard, recorder):
        self.recorder = recorder
        self.meet = guard.isolated("unseen")(self.meet)
        self.write = guard.isolated("unseen", anywhere=True)(self.write)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.graphs_before = graphs_compiled()  # not in this run
        self.replays, self.opaque = 0, 0
        self.met, self.written = IdentityMap(), {}

    def watch_all(self):
        replace([torch.export], "export", Around(lambda *_: (graphs_compiled(),), None, self.exported))
        replace([getattr(torch.cuda, "CUDAGraph", None)], "replay", only_before(self.replays_graph))

    def subscribe(self, moments):
        moments.model_met.append(self.meet)
        moments.step_ends.append(self.write)

    def exported(self, before):
        """What is traced for an export never runs here; older versions count it with the compiled."""
        self.graphs_before += graphs_compiled() - before[0]

    def replays_graph(self, args, kwargs):
        if not is_compiling():
            self.replays += 1

    def meet(self, root, model):
        """As a model is first used: those of its modules that run as one call, without their parts."""
        inside = set()
        for module in walking.modules(root):
            if id(module) not in inside and runs_as_one(module):
                inside.update(map(id, walking.modules(module)))
                self.opaque += module not in self.met
                self.met.set(module, True)

    def write(self, *_):
        """As a sampled step ends, for a program that is killed, and as the program does."""
        counts = {
            "compiled_graphs": graphs_compiled() - self.graphs_before,
            "graph_replays": self.replays,
            "opaque_modules": self.opaque,
        }
        for key, count in counts.items():
            if count > self.written.get(key, 0):
                self.written[key] = count
                self.recorder.attribute(0, key, count)


def graphs_compiled():
    """How many graphs torch compiled in this process; a call that failed and ran as it is written makes
    none."""
    counters = getattr(sys.modules.get(private.COMPILER_COUNTERS), "counters", {})
    return counters.get("stats", {}).get("unique_graphs", 0)


def runs_as_one(module):
    if isinstance(module, torch.jit.ScriptModule):
        return True
    # What torch.export leaves in the module that it gives, in every version.
    graph = isinstance(module, torch.fx.GraphModule)
    return graph and "inline_constraints" in vars(module).get("meta", {})
