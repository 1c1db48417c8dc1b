"""Watches module calls: which module ran, in which mode, on which batch, in which precision.

Compiled regions and recomputation are passed over.
"""

import math
import sys
import weakref

import torch

from ..record.digest import digest
from ..record.rows import Named, batch_of, fingerprint, with_rows
from ..state import walking
from ..state.last_batch import parts_of
from ..state.models import NORMALIZATIONS, depends_on_mode, nobody
from ..state.unregistered import BUILT
from ..torch_api import private, tensors
from ..torch_api.capabilities import is_compiling, tracing_state
from .evaluations import trains
from .forward_inputs import in_backward, inputs_of
from .loss_precision import BITS
from .sequence_layers import LAYERS

MOST_ROWS = 256  # of a batch in training
PRODUCTS = (torch.nn.Linear, private.ConvNd, torch.nn.Bilinear)
TAKE_INPUTS = (*PRODUCTS, torch.nn.RNNBase)  # layers whose weights multiply what a model is given
ASKED = (*PRODUCTS, *LAYERS, *NORMALIZATIONS, torch.nn.Embedding)  # modules whose tensors are looked at
LOOKED_INTO = (torch.nn.Embedding, torch.nn.LayerNorm, torch.nn.GroupNorm, private.BatchNorm)
FEW_VALUES = 8  # of a channel, for the statistics of a batch


class ForwardHooks:
    def __init__(self, guard, recorder, sites, models, losses, evaluations, scan, raised, layers, cuts):
        self.guard, self.recorder, self.sites, self.scan = guard, recorder, sites, scan
        self.moments, self.raised, self.cuts = recorder.moments, raised, cuts
        self.sequences, self.inputs, self.strangers = layers
        self.models, self.losses, self.evaluations = models, losses, evaluations
        for name in ("begin", "end", "look_at_normalization", "ask", "name"):
            setattr(self, name, guard.isolated("forward")(getattr(self, name)))
        self.begin_evaluation = guard.isolated("evaluation")(self.begin_evaluation)
        self.end_evaluation = guard.isolated("evaluation")(self.end_evaluation)
        self.add_forward = guard.isolated("forward", asks_tensors=False)(self.add_forward)
        # Of the forward under way: its outermost module, not kept alive where that forward raised.
        self.root, self.root_number = nobody, 0
        self.scale_is_known = True  # of what the first layer with weights is given
        self.model, self.entered = None, False
        self.evaluating = False  # the forward under way has its gradients disabled
        self.ran, self.seen_now = -1, set()  # a step, and what was recorded once already in it
        self.forwards, self.last_batch = [], losses.last_batch  # rows of the forward under way
        self.last_output, self.last_model, self.products = nobody, None, [0, 0]  # of this step: in low precision, all
        # Forwards of models with gradients, in sampled steps; the last step with a product in float16.
        self.begun, self.float16_step, self.norms = 0, -1, set()  # `norms`: normalizations that were looked at

    def before(self, module, args, kwargs=None):
        """`kwargs` are not known to a hook of torch: its caller has them."""
        if is_compiling() or tracing_state():
            return None
        if self.root_number:  # a part of a model, or the model again
            if id(module) == self.root_number and not self.evaluating:
                self.raised.forward_again()
            return None
        if self.guard.elsewhere() or in_backward():
            return None
        if torch.is_grad_enabled():
            if module.training and not self.guard.claim():
                return None
            self.root, self.root_number = weakref.ref(module), id(module)
            self.model, self.entered, self.evaluating = None, False, False
            if self.recorder.sampled or self.evaluations.unreached.by_model or self.recorder.request.samples:
                args = inputs_of(args, sys._getframe(1) if kwargs is None else kwargs)
            self.begin(module, args)
        else:
            model = self.models.roots.get(module)
            if model is not None:
                self.root, self.root_number = weakref.ref(module), id(module)
                self.model, self.evaluating = model, True
                args = inputs_of(args, sys._getframe(1) if kwargs is None else kwargs)
                self.begin_evaluation(model, module, args)
                if module.training and self.recorder.sampled:
                    self.strangers.frozen.called(module)
            elif self.recorder.opened:
                self.strangers.called(module)
        return None

    def begin_evaluation(self, model, module, args):
        self.evaluations.before(model, module, args, False)

    def end_evaluation(self, model, module, output):
        self.evaluations.after(model, module, output)

    def begin(self, module, args):
        if module.training:
            self.recorder.begin()
            self.evaluations.end()
        if self.ran != self.recorder.step:
            self.ran, self.seen_now = self.recorder.step, set()
        self.model = self.models.as_root(module)
        self.scale_is_known = not self.recorder.detailed
        if self.model is None:  # a loss that is a module looks nothing up
            return
        self.last_batch.forget_words()
        if module.training:
            if not self.model.trained:
                self.scan.meets_model()
            self.model.trained = True
            self.evaluations.unreached.begins(self.model, args)
        elif self.model.trained:
            self.evaluations.pass_in_evaluation_mode(self.model)
        self.entered = self.enter(args)
        if module.training:
            self.moments.forward_given(self.model, args)

    def subscribe(self, moments):
        moments.layer_built.append(self.write_built)
        moments.step_ends.append(self.end_step)

    def enter(self, inputs):
        """The batch goes in; False when no tensor is among `inputs`."""
        if not self.recorder.sampled:
            self.recorder.event("used")
            return True
        whole = batch_of(inputs)
        if not whole:
            return False
        batch, recorder, thing = whole[0], self.recorder, self.model.thing
        samples, self.begun = float(batch.shape[0]) if batch.dim() > 0 else 1.0, self.begun + 1
        recorder.batch_enters(inputs)
        recorder.event("used", thing, samples, site=self.sites.current(), owner=thing)
        if self.last_model is not self.model and batch is self.last_output():
            self.models.feeds(self.last_model)
        if not tensors.may_compute() or ("batch", thing) in self.seen_now:
            return True
        if not tensors.is_readable(batch):
            return True
        self.seen_now.add(("batch", thing))
        with tensors.unrecorded():
            self.write_batch(thing, whole)
            floating = (i for i in inputs if tensors.is_readable(i) and i.is_floating_point())
            batch = next(floating, None)
            if batch is not None and recorder.detailed:
                self.write_norm(thing, batch.detach())
        return True

    def write_batch(self, thing, batch):
        recorder = self.recorder
        if recorder.digests:
            number = digest([part for part in batch if tensors.is_readable(part)])
            recorder.quantity("batch_digest", thing, number >> 32, number & 0xFFFFFFFF)
        at = (recorder.step, recorder.micro_step)
        if self.last_batch.is_again(batch, thing):
            recorder.quantity("batch_fingerprint", thing, *self.last_batch.halves, at=at)
            return
        seen = parts_of(batch)

        def use(rows):
            halves = fingerprint(rows)
            self.last_batch.keep(seen, thing, halves)
            if self.model is not None and self.model.trained:
                recorder.moments.rows_trained(rows)
            recorder.quantity("batch_fingerprint", thing, *halves, at=at)

        with_rows(batch, MOST_ROWS, recorder.transfer, use)

    def write_norm(self, thing, batch):
        recorder, at = self.recorder, (self.recorder.step, self.recorder.micro_step)

        def write(values):
            aux = 0 if math.isfinite(values[0]) else tensors.count_nonfinite(batch)
            recorder.quantity("input_norm", thing, values[0], aux, at=at)

        recorder.transfer.add(tensors.norms([batch]), write)

    def after(self, module, args, *named_and_output):
        """Takes the keywords of the call only if torch knows that we want them: where another thread
        takes hooks out while this one is about to call them, it has just forgotten."""
        kwargs = named_and_output[0] if len(named_and_output) > 1 else {}
        return self.returned((module, args, kwargs, None), named_and_output[-1])

    def returned(self, call, output):
        """`call` is the module with what it was given, by position and by name, and what the scan began with."""
        module, args, kwargs, first = call
        if is_compiling() or self.guard.elsewhere():
            return None
        if not self.root_number:
            self.strangers.ended(module, output)
        elif self.evaluating:
            if id(module) == self.root_number:
                self.root_number = 0
                self.end_evaluation(self.model, module, output)
        elif not in_backward():
            if first is not None:
                self.scan.module_ended(module, first)
            if self.recorder.sampled:
                self.add_forward(module, args, kwargs, output)
            if id(module) == self.root_number:
                self.end(module, kwargs, output)
        return None

    def add_forward(self, module, args, kwargs, output):
        """Written all at once as the outermost module ends: a record by itself costs more."""
        known = None if self.model is None else self.models.modules.get(module)
        thing = self.name(module) if known is None else known
        self.cuts.add(module, thing, args, kwargs, output)
        if isinstance(module, ASKED):
            self.ask(module, thing, args, kwargs, output)
        is_root = id(module) == self.root_number
        seen = (thing, trains(module) if is_root else module.training)
        if thing and seen not in self.seen_now and torch.is_grad_enabled():
            self.seen_now.add(seen)
            self.forwards.append((thing, float(seen[1]), 0.0))

    def name(self, module):
        """The thing of a module that is met for the first time, or belongs to no model."""
        if self.model is None:
            return self.models.thing_of_any(module)
        return self.models.module_thing(module, self.root())

    def ask(self, module, thing, args, kwargs, output):
        """What the tensors of such a module tell."""
        if isinstance(module, TAKE_INPUTS) and thing and not self.scale_is_known:
            self.scale_is_known = True
            self.inputs.of_first_layer(thing, args, self.last_batch)
        if isinstance(module, PRODUCTS) and isinstance(output, torch.Tensor):
            self.products[0] += output.dtype in tensors.HALF
            if output.dtype is torch.float16:
                self.float16_step = self.recorder.step
            self.products[1] += 1
        if isinstance(module, torch.nn.Embedding) and args and tensors.is_plain(args[0]):
            self.last_batch.look_up(args[0])
        if isinstance(module, LAYERS):
            self.sequences.add(module, thing, args, kwargs, output)
        if torch.is_grad_enabled() and isinstance(module, LOOKED_INTO):
            self.inputs.add(module, thing, args, self.root())
        if isinstance(module, NORMALIZATIONS) and thing and torch.is_grad_enabled() and ("norm", thing) not in self.seen_now:
            self.seen_now.add(("norm", thing))
            if thing not in self.norms or isinstance(module, private.BatchNorm):
                self.look_at_normalization(module, thing, output)

    def look_at_normalization(self, layer, thing, output):
        """In which precision it works, and over how few values of a batch: ranks may put theirs together."""
        weight = dict(walking.items_of(layer, private.PARAMETERS)).get("weight")
        if isinstance(weight, torch.Tensor) and weight.dtype in tensors.HALF and thing not in self.norms:
            self.recorder.quantity("half_norm", thing, float(BITS[weight.dtype]), site=self.sites.current())
        self.norms.add(thing)
        own = isinstance(layer, private.BatchNorm) and not isinstance(layer, torch.nn.SyncBatchNorm)
        if own and layer.training and isinstance(output, torch.Tensor) and output.dim() > 1 and output.shape[1]:
            values = output.numel() // output.shape[1]
            if values <= FEW_VALUES:
                self.recorder.quantity("normalized_values", thing, float(values), site=self.sites.current())

    def write_built(self, layer):
        """A model makes layers of this class in its own forward: is it lost what they hold?"""
        thing = self.recorder.thing("class", self.model.ordinal, type(layer).__name__)
        matters = depends_on_mode(layer) or any(p.dim() > 1 for p in layer.parameters(recurse=False))
        self.recorder.quantity("built_anew", thing, BUILT, float(matters), self.sites.current())

    def write_forwards(self):
        rows, self.forwards = self.forwards, []
        if rows:
            owner = self.model.thing if self.model else 0
            *parts, root = rows
            self.recorder.events("forward", parts, owner)
            self.recorder.event("forward", root[0], root[1], site=self.sites.current(), owner=owner)

    def end(self, module, kwargs, output):
        self.root_number, model = 0, self.model
        if model is not None and module.training:
            self.moments.forward_gave(model, output)
        self.write_forwards()
        if model is None:
            return
        if not self.recorder.sampled:
            self.recorder.event("forward")
        if module.training:
            self.evaluations.unreached.ends(model, output)
        if not self.entered and kwargs:
            self.enter(Named(kwargs.values()))
        if not model.named:
            self.models.name_parameters(model, module)
        if self.recorder.sampled and isinstance(output, torch.Tensor):
            self.last_output, self.last_model = weakref.ref(output), model

    def end_step(self, owner):
        """Writes how many of a sampled step's products were in low precision."""
        low, count = self.products
        if count:
            self.recorder.quantity("low_precision_share", 0, low / count, float(count), owner=owner)
            self.products = [0, 0]

    def forget(self):
        """After a forward that never ended, because it raised."""
        self.root_number, self.evaluating, self.strangers.number = 0, False, 0
        if self.forwards:
            self.forwards = []
        self.evaluations.backward()
