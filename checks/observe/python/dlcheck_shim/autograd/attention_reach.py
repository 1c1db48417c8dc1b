"""What attention lets a position see, read from the nodes that a softmax or torch's attention function left in the
graph: padding, and the token that is to be predicted.
"""

import torch

from ..torch_api import private, tensors
from ..torch_api.on_host import on_host
from .loss_graph import SavedTensors
from .rearranged import signed

SOFTMAXES = ("SoftmaxBackward0", "SafeSoftmaxBackward0")
FUNCTION = "ScaledDotProduct"  # how the nodes of torch's attention functions begin
MOST_IN_FRONT = 2  # positions before the tokens, such as one for the class
FEWEST_LENGTHS = 3  # of the rows of a padded batch
HIDES = -1e4  # a number that a mask adds: as low as this, it hides
LEAST = 1e-6  # of a weight


def weights_of(node):
    """(rows, queries, keys): the weight of each key, or 1 for all that are not hidden, where only a mask is kept.
    `rows` has all leading axes, one of size 1 where they are alike. None if `node` is no attention."""
    if SavedTensors.packed:
        return None
    if node.name() in SOFTMAXES:
        return softmax_weights(node)
    return unhidden(node) if node.name().startswith(FUNCTION) else None


def softmax_weights(node):
    weights = on_host(private.saved(node, "result"))
    if not usable(weights) or not weights.is_floating_point() or weights.dim() < 3:
        return None
    if signed(private.saved(node, "dim"), weights.dim()) != -1:
        return None
    return weights.detach().flatten(0, -3)


def unhidden(node):
    query, key = private.saved(node, "query"), private.saved(node, "key")
    if not tensors.is_plain(query) or not tensors.is_plain(key):
        return None
    queries, keys = query.shape[-2], key.shape[-2]
    mask = private.saved(node, "attn_mask")
    mask = private.saved(node, "attn_bias") if mask is None else mask
    if mask is None:
        shown = torch.ones(1, queries, keys)
        return shown.tril() if private.saved(node, "is_causal") else shown
    mask = on_host(mask)
    if not usable(mask) or mask.dim() < 2:
        return None
    shown = mask if mask.dtype is torch.bool else mask > HIDES
    if mask.dim() == 4 and mask.shape[0] > 1:
        shown = shown.expand(-1, query.shape[1], -1, -1)
    return shown.detach().expand(*shown.shape[:-2], queries, keys).reshape(-1, queries, keys).float()


def usable(tensor):
    return tensors.is_plain(tensor) and tensor.is_cpu


def padding_of(tokens):
    """(batch, positions): where rows of tokens are filled up at their end with one token that is nowhere else; None
    if they are not, or too few lengths occur to tell."""
    if tokens.shape[0] < FEWEST_LENGTHS:
        return None
    last = tokens[:, -1:]
    tails = equal_at_end(tokens, last)
    filler = last[tails.sum(1).argmax()]
    padding = equal_at_end(tokens, filler)
    lengths = padding.sum(1).unique()
    if not torch.equal(padding, tokens == filler):
        return None
    return padding if lengths.numel() >= FEWEST_LENGTHS and int(lengths.max()) < tokens.shape[1] else None


def equal_at_end(tokens, value):
    """True from where on all tokens of a row are `value`."""
    return (tokens == value).flip(1).cumprod(1).flip(1).bool()


def weight_of_padding(weights, padding):
    """The largest weight that a real token gives to padding, 0 if none does; None if the shapes do not fit."""
    batch, positions = padding.shape
    rows, queries, keys = weights.shape
    front = keys - positions
    if not 0 <= front <= MOST_IN_FRONT or rows % batch and rows != 1:
        return None
    split = weights.reshape(-1 if rows == 1 else batch, max(1, rows // batch), queries, keys)[..., front:]
    hidden = padding[:, None, None, :]
    if queries == keys:
        real = torch.cat([padding.new_ones(batch, front), ~padding], 1)
        hidden = hidden & real[:, None, :, None]
    return float(torch.where(hidden, split, 0).amax())


def hides_tokens(weights, padding):
    """Whether, in rows with padding, real tokens give all of their weight to padding."""
    batch, positions = padding.shape
    rows, queries, keys = weights.shape
    if queries != keys or keys != positions or rows % batch:
        return False
    padded = padding.any(1)
    split = weights.reshape(batch, -1, queries, keys)[padded]
    real = ~padding[padded]
    seen = torch.where((real[:, None, :, None] & real[:, None, None, :]).expand_as(split), split, 0)
    return float(seen.amax()) < LEAST


def weight_of_next(weights, counted):
    """The largest weight that a position gives to the one after it, of those with a target that counts. `counted`:
    (batch, positions); None if the shapes do not fit."""
    batch, positions = counted.shape
    rows, queries, keys = weights.shape
    if queries != keys or keys < 2 or not positions <= keys <= positions + 1 or rows % batch and rows != 1:
        return None
    split = weights.reshape(-1 if rows == 1 else batch, max(1, rows // batch), queries, keys)
    after = split.diagonal(1, -2, -1)
    known = counted[:, None, : after.shape[-1]]
    return float(torch.where(known, after, 0).amax())
