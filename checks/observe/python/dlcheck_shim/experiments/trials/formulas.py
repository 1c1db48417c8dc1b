"""Functions of torch.nn.functional written out, for any precision: no fused operation, nothing clever."""

import math

import torch

from ...hooks.loss import reduction_of


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
              enable_gqa=False):  # fmt: skip
    if enable_gqa:
        shared = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(shared, -3), value.repeat_interleave(shared, -3)
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if attn_mask is not None:
        hidden = attn_mask.dtype == torch.bool
        scores = scores.masked_fill(~attn_mask, -math.inf) if hidden else scores + attn_mask
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True) @ value


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
                  reduction="mean", label_smoothing=0.0):  # fmt: skip
    reduction = reduction_of(
        {"size_average": size_average, "reduce": reduce, "reduction": reduction})
    classes = 0 if input.dim() == 1 else 1
    count = input.shape[classes]
    shifted = input - input.amax(classes, keepdim=True)
    logs = (shifted - shifted.exp().sum(classes, keepdim=True).log()).movedim(classes, -1)
    weight = torch.ones(count, dtype=logs.dtype, device=logs.device) if weight is None else weight
    if target.is_floating_point():
        wanted = target.movedim(classes, -1)
        counted = torch.ones(logs.shape[:-1], dtype=logs.dtype, device=logs.device)
        total = counted.sum()
    else:
        known = target != ignore_index
        wanted = torch.nn.functional.one_hot(target.where(known, 0 * target), count).to(logs.dtype)
        counted = known.to(logs.dtype)
        total = ((wanted * weight).sum(-1) * counted).sum()
    smooth = wanted * (1 - label_smoothing) + label_smoothing / count
    each = -(smooth * weight * logs).sum(-1) * counted
    if reduction == "none":
        return each
    return each.sum() if reduction == "sum" else each.sum() / total
