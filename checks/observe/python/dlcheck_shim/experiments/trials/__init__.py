"""Trials: exact tests of a model between two of its steps, on a copy of it and in a run of their own.

Each asks what the outputs depend on, by changing one part of the inputs and comparing the outputs of
two evaluations: what must not matter must not move them. What a trial cannot judge it says in an
attribute of the model, `untried/<trial>`.
"""
