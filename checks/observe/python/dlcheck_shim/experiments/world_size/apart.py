"""The experiment ranks: each process leaves the batches of its first step in a file, and the first one
its weights and the gradient that it stepped with."""

import os

import torch

from ...record.digest import digest
from ..fixed_batch.batches import Unarrangeable, leaves_of
from .first_step import FirstStep, world


def digest_of(gradient):
    return digest([part for part in gradient.parts if part is not None])


FOLDER = "ranks"  # in the folder of the run


def file_of(folder, rank):
    return os.path.join(folder, FOLDER, f"rank-{rank}.pt")


class Apart(FirstStep):
    def __init__(self, watch, folder, refuse):
        super().__init__(watch, refuse)
        self.folder = folder
        self.fetches.keeping = True

    def compare(self, weights, gradient):
        rank, size = world()
        if not self.fetches.sources:
            self.refuse("no batch of a DataLoader was fetched in the first step")
        try:  # the leaves alone, which are read again without running anybody's code
            batches = [[leaves_of(batch) for batch in source.batches] for source in self.fetches.sources]
        except Unarrangeable as error:
            self.refuse(f"a batch cannot be saved: {error}")
        kept = {"batches": batches, "size": size, "digest": digest_of(gradient)}
        if rank == 0:
            kept |= {"weights": weights, "gradient": gradient.parts}
        os.makedirs(os.path.join(self.folder, FOLDER), exist_ok=True)
        torch.save(kept, file_of(self.folder, rank))
