"""What a forward is given, and whether it is only repeated for a backward."""

import types

import torch

from ..record.rows import Named
from ..torch_api import private, tensors


def inputs_of(args, named):
    """The arguments of a call; where there is no tensor among them, those by name, which may stand in the frame
    that calls the hooks: torch shows them to no global hook before a call."""
    if any(isinstance(argument, torch.Tensor) for argument in args):
        return args
    if isinstance(named, types.FrameType):
        named = named.f_locals.get("kwargs")
    found = [v for v in named.values() if tensors.is_plain(v)] if isinstance(named, dict) else []
    return Named(found) if found else args


def in_backward():
    """True while a forward is only repeated for a backward (activation checkpoints)."""
    return private.current_graph_task_id() != -1
