"""The data of `unchanged/programs.h`: samples of classes around points of their own."""

import torch


def blobs(n, features, classes, noise=1.0):
    """x (n, features), y (n)."""
    centers = 2 * torch.randn(classes, features)
    y = torch.randint(classes, (n,))
    return centers[y] + noise * torch.randn(n, features), y
