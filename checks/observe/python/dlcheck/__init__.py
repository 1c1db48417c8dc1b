"""dlcheck from within Python: `with dlcheck.watch():` around training, and `python -m dlcheck.run`.

For everything else there is the command: `dlcheck run -- python train.py` watches a program without
a change to it.
"""

from .watching import FindingsError, log, watch

__all__ = ["FindingsError", "export", "log", "watch"]


def export(dataset, path, **options):
    """The samples of a dataset as a data file: see `exporting.export`, which needs torch."""
    from . import exporting

    return exporting.export(dataset, path, **options)

