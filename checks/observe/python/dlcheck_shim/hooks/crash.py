"""The exception that ends the program, and the line of the program that raised it."""

import sys

from ..record.sites import OWN, kind_of

PLAIN = (str, int, float, type(None))
MOST_CHARACTERS = 200


def write_crash(recorder):
    """As the process ends; Python has printed the exception by then."""
    kind = getattr(sys, "last_type", None)
    if kind is None:
        return
    recorder.attribute(0, "exception", text_of(kind, getattr(sys, "last_value", None)))
    site = site_of(getattr(sys, "last_traceback", None))
    if site is not None:
        file, line = site
        recorder.attribute(0, "exception_file", file)
        recorder.attribute(0, "exception_line", line)


def text_of(kind, value):
    """The exception in one line; its class alone where to print it would run code of the program."""
    given = getattr(value, "args", None)
    is_plain = type(given) is tuple and all(type(part) in PLAIN for part in given)
    if type(value) is not kind or kind.__module__ != "builtins" or not is_plain:
        return kind.__name__
    lines = str(value).splitlines()
    return f"{kind.__name__}: {lines[0]}"[:MOST_CHARACTERS] if lines else kind.__name__


def site_of(trace):
    """File and line of the innermost frame that is the program's own, or None."""
    found = None
    while trace is not None:
        if kind_of(trace.tb_frame.f_code.co_filename) == OWN:
            found = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    return found
