"""What the autograd graph tells by itself."""
