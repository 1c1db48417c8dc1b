"""The exception that ends the program, and the line of the program that raised it."""

import builtins
import sys

from ..record.sites import OWN, kind_of

# Of these, str() runs nothing of the program, if what they were given is plain.
BUILT_IN = [v for v in vars(builtins).values() if isinstance(v, type) and issubclass(v, BaseException)]
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
    name = type.__getattribute__(kind, "__name__")
    if type(value) is not kind or not any(kind is own for own in BUILT_IN):
        return name
    if not all(type(part) in PLAIN for part in value.args):
        return name
    lines = str(value).splitlines()
    return f"{name}: {lines[0]}"[:MOST_CHARACTERS] if lines else name


def site_of(trace):
    """File and line of the innermost frame that is the program's own, or None."""
    found = None
    while trace is not None:
        if kind_of(trace.tb_frame.f_code.co_filename) == OWN:
            found = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    return found
