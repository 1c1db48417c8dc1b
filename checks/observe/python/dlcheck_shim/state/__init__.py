"""What the probe knows of models, optimizers and their tensors."""
