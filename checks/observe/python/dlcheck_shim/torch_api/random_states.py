"""The states of torch's random number generators. To read one draws nothing, and stops no device."""

import torch


def random_states():
    """Of the CPU, and of each CUDA device once the program uses any."""
    return [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else ())]
