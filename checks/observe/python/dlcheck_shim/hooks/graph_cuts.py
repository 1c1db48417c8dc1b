"""Where the graph of the first training forward ends: a layer whose output has no gradient, or a later layer
whose input has none. What makes that so, as a detach() or a comparison, stands between the two calls.
"""

import torch

from ..state import walking
from ..torch_api import private

NO_OUTPUT, NO_INPUT = 1.0, 2.0
MOST_LAYERS = 1024


class GraphCuts:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.write = guard.isolated("graph", asks_tensors=False)(self.write)
        self.look = guard.isolated("graph")(self.look)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.layers = []  # thing, whether it trains, whether its input and output have a gradient, its line

    def subscribe(self, moments):
        moments.backward_begins.append(self.write)

    def add(self, layer, thing, args, kwargs, output):
        """After a call of a layer without layers in it. Whether the input has a gradient is None for one of
        indices, as of an embedding."""
        if self.recorder.step or self.recorder.micro_step or not thing or len(self.layers) == MOST_LAYERS:
            return
        if next(walking.children(layer), None) is None:
            self.look(layer, thing, args, kwargs, output)

    def look(self, layer, thing, args, kwargs, output):
        given = [a for a in (*args, *kwargs.values()) if is_floating(a)]
        trains = any(p.requires_grad for _, p in walking.items_of(layer, private.PARAMETERS))
        has_input = any(a.requires_grad for a in given) if given else None
        results = output if isinstance(output, (tuple, list)) else (output,)
        has_output = any(is_floating(r) and r.requires_grad for r in results)
        self.layers.append((thing, trains, has_input, has_output, self.sites.current()))

    def write(self):
        """As the first backward begins."""
        layers, self.layers = self.layers, []
        for place, (thing, trains, _, has_output, site) in enumerate(layers):
            if not trains:
                continue
            if not has_output:
                self.recorder.quantity("graph_cut", thing, NO_OUTPUT, site=site)
                continue
            after = next((later for later in layers[place + 1 :] if later[2] is False), None)
            if after is not None:
                self.recorder.quantity("graph_cut", thing, NO_INPUT, site=after[4])


def is_floating(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()
