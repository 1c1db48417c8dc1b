"""Where in the user's program something was called: the first frame outside of installed libraries or,
where there is none, outside torch and this package."""

import os
import re
import sys

import torch

SKIPPED = (
    os.path.dirname(os.path.abspath(torch.__file__)) + os.sep,
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    "<frozen",
    "<dlcheck",
    os.path.dirname(os.__file__) + os.sep + "contextlib.py",
    os.path.dirname(os.__file__) + os.sep + "functools.py",
)
INSTALLED = re.compile(r"/(site|dist)-packages/|/runpy\.py$")
MOST_UNDER_WAY = 8
OWN, LIBRARY, OURS = range(3)  # whose a frame is: the program's, a library's, torch's or the probe's


def kind_of(file):
    if file.startswith(SKIPPED):
        return OURS
    return LIBRARY if INSTALLED.search(file) else OWN


class Sites:
    def __init__(self, recorder):
        self.recorder = recorder
        self.kinds, self.known = {}, {}
        self.kinds_under_way = {}  # also of files that only called the program, and are none of its own
        recorder.moments.begins_anew.append(self.known.clear)

    def current(self, always=False):
        """The id of the calling line, 0 in a step that is not sampled unless `always`: a walk
        costs a microsecond."""
        if not self.recorder.sampled and not always:
            return 0
        found = self.caller()
        return self.site(*found) if found is not None else 0

    def call_and_function(self):
        """The ids of the calling line and of the line at which the calling function begins; twice the same where that
        has no name."""
        found = self.caller()
        if found is None:
            return 0, 0
        code, line = found
        return self.site(code, line), self.site(code, line if code.co_name.startswith("<") else code.co_firstlineno)

    def caller(self, passed_over=()):
        """The code and the line in it that called, but for codes that are passed over; None where only torch is at
        work."""
        frame, inside = sys._getframe(2), None
        while frame is not None:
            code = frame.f_code
            kind = self.kinds.get(code.co_filename)  # by name: to look up a code takes longer than to walk on
            if kind is None:
                kind = self.kinds[code.co_filename] = kind_of(code.co_filename)
            if kind == OWN and code not in passed_over:
                return code, frame.f_lineno
            if kind == LIBRARY and inside is None and code not in passed_over:
                inside = frame
            frame = frame.f_back
        return (inside.f_code, inside.f_lineno) if inside is not None else None

    def under_way(self):
        """(file, line) of the calls of the program's own code that are under way, the innermost first."""
        frame, found = sys._getframe(2), []
        while frame is not None and len(found) < MOST_UNDER_WAY:
            file = frame.f_code.co_filename
            kind = self.kinds_under_way.get(file)
            if kind is None:
                kind = self.kinds_under_way[file] = kind_of(file)
            if kind == OWN:
                found.append((file, frame.f_lineno))
            frame = frame.f_back
        return found

    def own_files(self):
        """Files of the program's own code that was seen at work."""
        return {file for file, kind in self.kinds.items() if kind == OWN}

    def site(self, code, line):
        place = (code.co_filename, line, code.co_name)
        known = self.known.get(place)
        if known is None:
            known = self.known[place] = self.recorder.writer.site(*place)
        return known
