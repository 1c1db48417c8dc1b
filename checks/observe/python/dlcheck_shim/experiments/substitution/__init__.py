"""Experiments that give the program other inputs, labels, batches or optimizers."""
