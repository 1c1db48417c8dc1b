"""Keeps an experiment away from the program's own files."""
