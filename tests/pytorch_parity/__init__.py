"""Goldens; see golden.py."""

import warnings

# At the import of torch, which follows.
warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
