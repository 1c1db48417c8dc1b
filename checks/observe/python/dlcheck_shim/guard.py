"""Keeps every failure of the probe away from the program.

Each hook belongs to a family. The first exception of a family is written down and switches that
family off; the others go on. Our own tests set DLCHECK_SHIM_RAISE=1, and then nothing is swallowed.
"""

import functools
import os

RAISES = os.environ.get("DLCHECK_SHIM_RAISE") == "1"


class Guard:
    def __init__(self, report):
        """`report` takes the name of a family and the exception that ended it."""
        self.report = report
        self.failed = set()

    def isolated(self, family):
        """A decorator: the function gives None when its family is off or fails."""

        def decorate(body):
            failed = self.failed

            @functools.wraps(body)
            def call(*args, **kwargs):
                if family in failed:
                    return None
                try:
                    return body(*args, **kwargs)
                except Exception as error:
                    if RAISES:
                        raise
                    failed.add(family)
                    self.report(family, error)
                    return None

            return call

        return decorate
