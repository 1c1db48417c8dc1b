"""The lines of the program that built its layers and optimizers: where a wrong argument stands."""

import torch

from ..record.identity import IdentityMap
from ..torch_api.capabilities import scaler_classes
from ..torch_api.wrapping import Around, followed_by, replace

# Functions that the losses among torch's modules call.
FUNCTIONS = {
    torch.nn.CrossEntropyLoss: "cross_entropy",
    torch.nn.NLLLoss: "nll_loss",
    torch.nn.KLDivLoss: "kl_div",
    torch.nn.MSELoss: "mse_loss",
    torch.nn.BCEWithLogitsLoss: "binary_cross_entropy_with_logits",
    torch.nn.BCELoss: "binary_cross_entropy",
    torch.nn.L1Loss: "l1_loss",
    torch.nn.SmoothL1Loss: "smooth_l1_loss",
    torch.nn.HuberLoss: "huber_loss",
}
MOST_LAYERS = 1 << 14  # whose lines are kept
MOST_TOLD = 1 << 12


class Built:
    def __init__(self, guard, recorder, sites):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.lines, self.layers, self.told = IdentityMap(), 0, 0
        self.once = set()  # events that are told of the first thing alone
        self.losses = {}  # by loss function: the lines that built a module of it
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        """In another process of a fork the layers are the same."""
        self.told, self.once = 0, set()

    def watch_all(self):
        self.begins = self.guard.isolated("built", asks_tensors=False)(self.begins)
        replace([torch.nn.Module], "__init__", Around(lambda args, _: self.begins(*args[:1])))
        made = self.guard.isolated("built", asks_tensors=False)(self.made)
        for scaler in scaler_classes():
            if "__init__" in vars(scaler):
                replace([scaler], "__init__", followed_by(lambda _, args, __: made(args[0])))

    def made(self, scaler):
        if self.lines.get(scaler) is None:
            self.lines.set(scaler, self.sites.caller(constructors_of(type(scaler))))

    def subscribe(self, moments):
        moments.optimizer_made.append(lambda optimizer: self.lines.set(optimizer, self.sites.caller()))
        moments.loss_named.append(self.tell_loss)
        moments.module_named.append(lambda module, thing: self.tell("module_built", module, thing))
        moments.optimizer_named.append(lambda optimizer, thing: self.tell("optimizer_built", optimizer, thing))

    def begins(self, layer):
        """Of a class of the program: what calls the outermost of its constructors."""
        if self.layers < MOST_LAYERS and layer not in self.lines:
            self.layers += 1
            line = self.sites.caller(constructors_of(type(layer)))
            self.lines.set(layer, line)
            if type(layer) in FUNCTIONS and line is not None:
                self.losses.setdefault(FUNCTIONS[type(layer)], set()).add(line)

    def tell_loss(self, function, thing):
        """Of several lines nobody knows which built the one that is called."""
        lines = self.losses.get(function, ())
        if len(lines) == 1:
            self.recorder.event("module_built", thing, site=self.sites.site(*next(iter(lines))), always=True)

    def tell_once(self, event, built, thing):
        if event not in self.once:
            self.once.add(event)
            self.tell(event, built, thing)

    def tell(self, event, built, thing):
        line = self.lines.get(built)
        if line is not None and self.told < MOST_TOLD:
            self.told += 1
            self.recorder.event(event, thing, site=self.sites.site(*line), always=True)


def constructors_of(kind):
    """The code of each `__init__` of a class and those that it comes from."""
    functions = (vars(base).get("__init__") for base in kind.__mro__)
    return {function.__code__ for function in functions if hasattr(function, "__code__")}
