"""One part of PyTorch a file: what it calls, and what is recorded then."""
