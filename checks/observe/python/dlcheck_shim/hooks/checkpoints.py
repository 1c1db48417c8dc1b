"""Watches what is saved and what is loaded: which parts of the training's state a file holds, what of
it is put where, and whether it is still there when training begins."""

import io
import os

import torch

from ..record.identity import IdentityMap
from ..state import walking
from ..torch_api import private, tensors
from ..torch_api.wrapping import Around, followed_by, replace
from .misplaced_weights import MisplacedWeights

MOST_DEPTH, MOST_ENTRIES = 4, 4096
MOST_CHECKED_ELEMENTS = 1 << 26
FEW_ELEMENTS = 1 << 20  # so many are looked at in every save
ALWAYS = 8  # first saves that are looked into; then those whose number is a power of two
RANDOM_STATE_BYTES = 5056  # of the generator of the CPU
BUFFER = "a buffer in memory"  # written to a file by the program or its library, we cannot see which
SCHEDULER_KEYS = (private.STEP_COUNT, "base_lrs", "num_bad_epochs")  # the last: ReduceLROnPlateau's
CHANGED = 1e-3  # relative difference of two norms


class Checkpoints:
    def __init__(self, guard, recorder, sites, models, optimizers):
        self.guard, self.recorder, self.sites = guard, recorder, sites
        self.models, self.optimizers = models, optimizers
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.saves, self.depth = 0, 0
        self.read = False  # whether any file was
        self.written = set()  # files by thing
        self.put_in = IdentityMap()  # modules that were given a state: share, rest, norms
        self.misplaced = MisplacedWeights(self.recorder)

    def watch_all(self):
        observe = self.guard.isolated("file")
        self.put_into_model = observe(self.put_into_model)
        self.write_put_in = observe(self.write_put_in)
        replace([torch, torch.serialization], "save", followed_by(observe(self.saved)))
        replace([torch, torch.serialization], "load", followed_by(observe(self.loaded)))
        replace([torch.nn.Module], "load_state_dict",
                Around(self.begins_load, self.returns_load, self.ends_load))  # fmt: skip
        replace([torch.optim.Optimizer], "load_state_dict",
                followed_by(observe(self.put_into_optimizer)))  # fmt: skip

    def subscribe(self, moments):
        moments.model_met.append(self.write_put_in)

    def watch_safetensors(self, module):
        observe = self.guard.isolated("file")
        save = observe(lambda _, args, kwargs: self.saved(_, args, {"f": kwargs.get("filename"),
                                                                    "obj": kwargs.get("tensors")}))
        load = observe(lambda found, args, kwargs: self.loaded(found, args,
                                                               {"f": kwargs.get("filename")}))
        replace([module], "save_file", followed_by(save))
        replace([module], "load_file", followed_by(load))

    def saved(self, result, args, kwargs):
        self.saves += 1
        looked = self.saves <= ALWAYS or self.saves & (self.saves - 1) == 0
        file = args[1] if len(args) > 1 else kwargs.get("f")
        thing = self.file_thing(BUFFER if isinstance(file, io.BytesIO) else file)
        self.recorder.event("saved", thing, site=self.sites.current(looked), always=looked)
        if thing:
            content, trained = args[0] if args else kwargs.get("obj"), []
            self.recorder.moments.saved(path_of(file), content)
            contents = self.contents(content, trained)
            if looked:
                self.look_at_precision(thing, content, contents)
                self.written.add(thing)
                self.recorder.attribute(thing, "contents", contents)
            if looked or sum(tensor.numel() for tensor in trained) < FEW_ELEMENTS:
                self.count_nonfinite(thing, trained)

    def look_at_precision(self, thing, content, contents):
        """Whether the weights of a file from which an optimizer goes on are in half precision, and those of the
        model are not."""
        if "optimizer" not in contents.split() or not isinstance(content, dict):
            return
        kinds = {known[1]: p.dtype for p, known in self.models.parameters.items()}
        for part in content.values():
            if isinstance(part, dict) and any(is_lowered(kinds.get(name), value) for name, value in part.items()):
                self.recorder.quantity("lowered_weights", thing, 1.0, site=self.sites.current(True))
                return

    def loaded(self, result, args, kwargs):
        thing = self.file_thing(args[0] if args else kwargs.get("f"))
        self.recorder.event("loaded", thing, site=self.sites.current(True), always=True)
        self.read = True
        if thing and thing not in self.written:  # as it was saved, the models were those of the file
            self.recorder.attribute(thing, "contents", self.contents(result, []))

    def file_thing(self, file):
        path = path_of(file)
        return self.recorder.thing("file", 0, path) if path else 0

    def contents(self, value, trained):
        """Sorted words for the parts of a training's state that `value` holds; adds the tensors of
        models and optimizers to `trained`."""
        self.entries, found = 0, set()
        known = {tensors.place_of(p) for p, _ in self.models.parameters.items()} - {0}
        names = {known[1] for _, known in self.models.parameters.items()}
        self.walk(value, found, trained, (known, names), 0)
        return " ".join(sorted(found)) or "other"

    def walk(self, value, found, trained, known, depth):
        self.entries += 1
        if depth > MOST_DEPTH or self.entries > MOST_ENTRIES:
            return
        kind = kind_of(value, known)
        if kind:
            found.add(kind)
            if kind == "model":
                trained += numbers_in(parameters_in(value, *known))
            elif kind == "optimizer" and isinstance(value, dict):
                states = value["state"].values() if isinstance(value["state"], dict) else ()
                for state in states:
                    trained += numbers_in(state.values() if isinstance(state, dict) else ())
            return
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            for part in value[:MOST_ENTRIES]:
                self.walk(part, found, trained, known, depth + 1)

    def count_nonfinite(self, thing, trained):
        """How much of what was trained and saved is not finite."""
        if not tensors.may_compute():
            return
        total, counts = 0, []
        with tensors.unrecorded():
            for tensor in trained:
                total += tensor.numel()
                if total > MOST_CHECKED_ELEMENTS:
                    break
                counts.append((~torch.isfinite(tensor.detach())).sum().double().cpu())
        if counts:
            bad = float(torch.stack(counts).sum())
            self.recorder.quantity("saved_nonfinite", thing, bad, float(total))

    def begins_load(self, args, kwargs):
        self.depth += 1
        return args, kwargs

    def returns_load(self, token, result):
        if self.depth != 1:
            return
        (module, *args), kwargs = token
        state = args[0] if args else kwargs.get("state_dict")
        assigns = args[2] if len(args) > 2 else kwargs.get("assign", False)
        self.put_into_model(module, state, result, assigns)

    def ends_load(self, token):
        self.depth -= 1

    def look_for_own(self, thing, module, state):
        """Is a model given the very memory that it has, as by a state_dict that was kept, not copied?"""
        places = {name: tensors.place_of(p.detach()) for name, p in walking.named_parameters(module) if name in state}
        own = [isinstance(state[name], torch.Tensor) and tensors.place_of(state[name].detach()) == place
               for name, place in places.items() if place]  # fmt: skip
        if own and all(own):
            site = self.sites.current(True)
            self.recorder.quantity("own_state_loaded", thing, float(len(own)), site=site)

    def put_into_model(self, module, state, result, assigns=False):
        recorder, thing = self.recorder, self.models.thing_of_any(module)
        if not thing:  # none that trained has this number, and the next one that does will
            thing = recorder.thing("model", self.models.seen, type(module).__name__)
        recorder.event("loaded", thing, site=self.sites.current(True), always=True)
        if not hasattr(result, "missing_keys") or not hasattr(state, "__len__"):
            return
        if recorder.step > 0 and isinstance(state, dict) and not assigns:
            self.look_for_own(thing, module, state)
        given, unexpected = len(state), len(result.unexpected_keys)
        own = given - unexpected + len(result.missing_keys)
        if own == 0:
            return
        named = {name: p for name, p in walking.named_parameters(module) if name in state
                 and tensors.is_plain(p) and p.is_floating_point() and p.numel()}  # fmt: skip
        norms = None
        model = self.models.roots.get(module)
        if named and tensors.may_compute() and (model is None or not model.trained):
            with tensors.unrecorded():
                norms = tensors.norms([p.detach() for p in named.values()])
        share = (given - unexpected) / own
        self.put_in.set(module, (share, float(unexpected), list(named), norms))
        if self.read:
            self.misplaced.put_into_model(module, named, norms)

    def write_put_in(self, root, model):
        """A model is about to be trained for the first time: what was put into it before?"""
        given = False
        for module, (share, unexpected, names, norms) in self.put_in.items():
            if not any(module is part for part in walking.modules(root)):
                continue
            given = True
            self.put_in.entries.pop(id(module), None)
            self.recorder.quantity("loaded_share", model.thing, share, unexpected)
            if norms is not None and not model.sharded:  # a part of each tensor, or put together
                self.compare(module, model, names, norms)
        if not given and not model.sharded:
            self.misplaced.look(root, model)

    def compare(self, module, model, names, before):
        now = dict(walking.named_parameters(module))
        if any(name not in now or now[name].device != before.device for name in names):
            return
        recorder = self.recorder
        at = (recorder.step, recorder.micro_step)
        with tensors.unrecorded():
            norms = tensors.norms([now[name].detach() for name in names])
            changed = (norms - before).abs() > CHANGED * before.abs()
        recorder.transfer.add(
            changed.double().mean().reshape(1),
            lambda v: recorder.quantity("overwritten_share", model.thing, v[0], float(len(names)),
                                        at=at),
        )  # fmt: skip

    def put_into_optimizer(self, result, args, kwargs):
        """Libraries move an optimizer to a device by giving it its own state, which is empty then."""
        state = args[1] if len(args) > 1 else kwargs.get("state_dict")
        if not self.read and isinstance(state, dict) and not state.get("state"):
            return
        self.misplaced.put_into_optimizer(args[0])
        thing = self.optimizers.watch(args[0]).thing
        self.recorder.event("loaded", thing, site=self.sites.current(True), always=True)


def path_of(file):
    """As the program writes it; "" if the file has none."""
    if isinstance(file, io.IOBase):
        file = getattr(file, "name", None)
    return os.fspath(file) if isinstance(file, (str, os.PathLike)) else ""


def is_module(value):
    return isinstance(value, torch.nn.Module)


def is_lowered(kind, value):
    return kind in (torch.float32, torch.float64) and tensors.is_plain(value) and value.dtype in tensors.HALF


def kind_of(value, known):
    """Which part of a training's state a value is, or "" if it is none by itself."""
    if is_module(value):
        return "model"
    if isinstance(value, torch.optim.Optimizer):
        return "optimizer"
    if isinstance(value, torch.Tensor):
        small = value.dtype == torch.uint8 and value.numel() == RANDOM_STATE_BYTES
        return "random" if small else ""
    if not isinstance(value, dict) or not value:
        return ""
    if "param_groups" in value and "state" in value:
        return "optimizer"
    if "growth_factor" in value and "scale" in value:
        return "scaler"
    if "last_epoch" in value and any(key in value for key in SCHEDULER_KEYS):
        return "scheduler"
    return "model" if is_state_of_model(value, *known) else ""


def is_state_of_model(value, pointers, names):
    """True for the weights of a model that trains, by place or by name; before anything trains,
    for a table of many tensors."""
    held = [v for v in value.values() if isinstance(v, torch.Tensor)]
    if not held or len(held) * 2 < len(value) or not all(isinstance(k, str) for k in value):
        return False
    if not names:
        return len(held) > 1
    if any(tensors.place_of(tensor) in pointers for tensor in held):
        return True
    return sum(key.removeprefix("module.") in names for key in value) * 2 >= len(names)


def parameters_in(value, pointers, names):
    """The parameters of a saved model; what its buffers hold may be anything."""
    if is_module(value):
        return walking.parameters(value)
    return [v for key, v in value.items() if isinstance(v, torch.Tensor)
            and (key.removeprefix("module.") in names or tensors.place_of(v) in pointers)]  # fmt: skip


def numbers_in(values):
    return [v for v in values if isinstance(v, torch.Tensor) and tensors.is_plain(v)
            and v.is_floating_point() and v.layout is torch.strided]  # fmt: skip
