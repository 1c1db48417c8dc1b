"""What the probe knows of models: which modules and parameters they have, and how they are called.

A model is the outermost module of a training forward that has parameters; ordinals go by first use.
Names are canonical: the layers that DDP and torch.compile put around a model are left out.
"""

import collections
import weakref

import torch

from ..record.identity import IdentityMap
from ..record.sites import OWN, kind_of
from ..torch_api import private
from ..torch_api.tensors import is_held, is_shard
from . import walking
from .objects_alive import modules_around
from .unregistered import Unregistered

MOST_REPLACED = 4  # parameters of one name
MOST_LOOKS = 2  # for modules around parts that no optimizer has
WRAPPING = ("module.", "_orig_mod.", "_fsdp_wrapped_module.")
WRAPPERS = (
    "DistributedDataParallel",
    "DataParallel",
    "FullyShardedDataParallel",
    "OptimizedModule",
)

NORMALIZATIONS = tuple(
    kind for name, kind in vars(torch.nn).items()
    if name in ("LayerNorm", "GroupNorm", "LocalResponseNorm", "RMSNorm")
) + (private.NormBase,)  # fmt: skip


def role_of(module):
    """What kind of layer a module is, where checks ask for that; "" for any other."""
    if isinstance(module, NORMALIZATIONS):
        return "normalization"
    if isinstance(module, private.DropoutNd):
        return "dropout"
    return "embedding" if isinstance(module, (torch.nn.Embedding, torch.nn.EmbeddingBag)) else ""


def depends_on_mode(module):
    """True for a layer that gives other numbers in training mode than in evaluation mode."""
    if isinstance(module, private.DropoutNd):
        return module.p > 0
    if isinstance(module, private.NormBase):
        return module.track_running_stats
    return isinstance(module, torch.nn.RNNBase) and module.dropout > 0


def reads_mode(module):
    """Whether the program's own forward of such a layer reads `self.training`: it may do other things then."""
    code = getattr(getattr(type(module), "forward", None), "__code__", None)
    return code is not None and "training" in code.co_names and kind_of(code.co_filename) == OWN


def takes_the_place_of(parameter, named):
    """Whether a layer was replaced after its parameters got their names, as a head is for another task. The tensors
    that a functional call puts in are no parameters of a module."""
    return all(isinstance(tensor, torch.nn.Parameter) for tensor in (parameter, named))


def nobody():
    """A dead reference."""


def canonical(name, prefixes=WRAPPING):
    """The name without the layers around a model: "module.fc1.weight" is "fc1.weight"."""
    full = "." + name + "."
    for prefix in prefixes:
        full = full.replace("." + prefix, ".")
    return full.strip(".")


def is_wrapper(module):
    """True for the layers that only hold another module and change its parameters' names."""
    return type(module).__name__ in WRAPPERS


def is_sharded(root):
    """True for a model whose parameters are spread over processes and put together as it runs."""
    return any(map(is_shard, walking.parameters(root))) or any(
        type(module).__name__ == "FullyShardedDataParallel" for module in walking.modules(root))


def inside(wrapper):
    """The module that a wrapper holds."""
    return next(walking.children(wrapper), None)


class Model:
    def __init__(self, recorder, root, ordinal):
        self.ordinal = ordinal
        self.named = {}  # who bears a name: the tensors of a functional call or the module's own
        self.replaced = collections.Counter()  # by name: parameters that others took the place of
        self.thing = recorder.thing("model", ordinal, type(root).__name__)
        self.trained = False  # a forward in training mode was seen
        self.feeding = False  # what it gives goes into another model
        # A user's own attribute may be called `module`; only names under a wrapper are shortened.
        self.prefixes = WRAPPING if any(map(is_wrapper, walking.modules(root))) else ()
        self.sharded = is_sharded(root)
        if type(root).__name__ == "OptimizedModule":
            recorder.attribute(self.thing, "compiled", 1)

    def name(self, full):
        return canonical(full, self.prefixes)


class Models:
    def __init__(self, recorder, guard):
        self.recorder, self.guard = recorder, guard
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.roots, self.modules, self.parameters = IdentityMap(), IdentityMap(), IdentityMap()
        self.described, self.aliases = IdentityMap(), {}
        self.unoptimized, self.unregistered = [], Unregistered()
        self.optimized, self.looks = IdentityMap(), MOST_LOOKS
        self.seen = 0  # ordinals are never reused: a model that is gone keeps its records

    def as_root(self, module):
        """The model whose root this is, made on first sight; None for a part or a bare function."""
        model = self.roots.get(module)
        if model is not None or module in self.modules:
            return model
        if next(walking.parameters(module), None) is None:
            self.modules.set(module, 0)
            return None
        if is_wrapper(module) and (model := self.roots.get(inside(module))) is not None:
            self.roots.set(module, model)
            return model
        model = Model(self.recorder, module, self.seen)
        self.seen += 1
        self.roots.set(module, model)
        if is_wrapper(module) and inside(module) is not None:  # evaluated without its wrapper, too
            self.roots.set(inside(module), model)
        self.drop_parts(module)
        self.name_modules(model, module)
        if model.sharded:  # in the forward about to run its parameters are others, put together
            self.name_parameters(model, module)
        self.recorder.moments.model_met(module, model)
        return model

    def drop_parts(self, root):
        """What was called by itself before the first backward, as a layer is while its model is built, is no model
        but a part of this one."""
        if self.recorder.step == 0 and self.recorder.micro_step == 0:
            for part in walking.modules(root):
                if part is not root and not (is_wrapper(root) and part is inside(root)):
                    self.roots.remove(part)

    def name_modules(self, model, root):
        for full, module in walking.named_modules(root):
            if module not in self.modules:
                thing = self.recorder.thing("module", model.ordinal, model.name(full))
                self.modules.set(module, thing)
                self.describe_module(thing, module)
                self.recorder.moments.module_named(module, thing)

    def describe_module(self, thing, module):
        role = role_of(module)
        if role:
            self.recorder.attribute(thing, "role", role)
        if depends_on_mode(module) or reads_mode(module):
            self.recorder.attribute(thing, "mode_dependent", 1 if depends_on_mode(module) else "own")

    def feeds(self, model):
        """What this model gave in training is another's input, as a generator's is."""
        if not model.feeding:
            model.feeding = True
            self.recorder.attribute(model.thing, "feeds", 1)

    def module_thing(self, module, root):
        """The thing of a module that runs below `root`; 0 for one that has no name in it."""
        thing = self.modules.get(module)
        if thing is None:
            model = self.roots.get(root)
            if model is not None:
                self.name_modules(model, root)
            if module not in self.modules:
                self.modules.set(module, 0)
                if self.unregistered.runs(module):
                    self.recorder.moments.layer_built(module)
            thing = self.modules.get(module)
        return thing

    def thing_of_any(self, module):
        """The thing of a model or module already seen, else 0."""
        model = self.roots.get(module)
        return model.thing if model is not None else self.modules.get(module, 0)

    def name_parameters(self, model, root):
        """Gives each parameter its thing. In a functional call these are the tensors put in."""
        for full, parameter in walking.named_parameters(root, once=False):
            if not is_held(parameter) or not parameter.is_leaf:
                continue
            name = model.name(full)
            named = model.named.get(name, nobody)()
            known = self.parameters.get(parameter)
            if named is not None and named is not parameter:
                # The parameters of a sharded model are others during a forward, under the same names.
                if known is not None or model.sharded or model.replaced[name] == MOST_REPLACED:
                    continue
                if not takes_the_place_of(parameter, named):
                    continue
                model.replaced[name] += 1
            if known is None:
                times = model.replaced[name]
                thing = self.recorder.thing("parameter", model.ordinal, f"{name} ({times + 1})" if times else name)
                module = model.name(full.rpartition(".")[0])
                self.parameters.set(parameter, (thing, name, module))
                model.named[name] = weakref.ref(parameter)
            elif known[1] != name and name not in self.aliases.setdefault(known[0], []):
                self.aliases[known[0]].append(name)
                self.recorder.attribute(known[0], "alias", ", ".join(self.aliases[known[0]]))

    def describe(self, groups_of):
        """Writes what is known of every parameter; `groups_of` maps a parameter to its group's
        name."""
        for root, model in self.roots.items():
            self.name_parameters(model, root)
            if self.guard.is_alone():
                self.name_forgotten(model, root, groups_of)
        self.unoptimized, self.optimized = [], groups_of
        for parameter, (thing, _, module) in self.parameters.items():
            group = groups_of.get(parameter, "")
            self.describe_one(thing, parameter, module, group)
            if not group and parameter.requires_grad:
                self.unoptimized.append((weakref.ref(parameter), thing))

    def name_forgotten(self, model, root, groups_of):
        """Gives what the model uses and nobody trains a thing, as if it were a parameter."""
        def is_known(tensor):
            return tensor in self.parameters or tensor in groups_of or private.is_flat_parameter(tensor)

        for place, tensor in self.unregistered.forgotten(root, is_known):
            name = model.name(place)
            thing = self.recorder.thing("parameter", model.ordinal, name)
            self.parameters.set(tensor, (thing, name, ""))

    def describe_one(self, thing, parameter, module, group):
        attributes = {
            "shape": "x".join(map(str, parameter.shape)) or "1",
            "elements": parameter.numel(),
            "dtype": str(parameter.dtype).removeprefix("torch."),
            "requires_grad": int(parameter.requires_grad),
            "module": module,
            "optimizer": group,
        }
        written = self.described.get(parameter, {})
        if not group:
            del attributes["optimizer"]
        for key, value in attributes.items():
            if written.get(key) != value:
                self.recorder.attribute(thing, key, value)
        self.described.set(parameter, attributes)

    def look_for_gradients(self):
        """Marks parameters of no optimizer that have been given a gradient. Those of another thread have none that
        the watched optimizers know of."""
        if not self.guard.is_alone():
            return
        waiting, self.unoptimized = self.unoptimized, []
        found = []
        for reference, thing in waiting:
            parameter = reference()
            if parameter is not None and parameter.is_leaf and parameter.grad is not None:
                self.recorder.attribute(thing, "gradient_seen", 1)
                found.append(id(parameter))
            elif parameter is not None:
                self.unoptimized.append((reference, thing))
        if found and self.looks:
            self.look_around(set(found))

    def look_around(self, found):
        """A model that no optimizer has, and that got gradients, may be a part of a module that one has: methods of
        that module call it. `found`: numbers of parameters."""
        alone = {}
        for root, model in self.roots.items():
            own = list(walking.parameters(root))
            if any(id(p) in found for p in own) and not any(p in self.optimized for p in own):
                alone[id(root)] = root, model
        if not alone:
            return
        self.looks -= 1
        around = modules_around([root for root, _ in alone.values()])
        for number, (_, model) in alone.items():
            if any(p in self.optimized for module in around[number] for p in walking.parameters(module)):
                self.recorder.attribute(model.thing, "part_of_trained", 1)
