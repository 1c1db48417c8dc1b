"""Where in the user's program something was called: the first frame outside torch and this
package."""

import os
import sys

import torch

SKIPPED = (
    os.path.dirname(os.path.abspath(torch.__file__)) + os.sep,
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
    "<frozen",
    os.path.dirname(os.__file__) + os.sep + "contextlib.py",
    os.path.dirname(os.__file__) + os.sep + "functools.py",
)


class Sites:
    def __init__(self, recorder):
        self.recorder = recorder
        self.skips, self.known = {}, {}
        recorder.on_fork.append(self.known.clear)

    def current(self, always=False):
        """The id of the calling line, 0 in a step that is not sampled unless `always`: a walk
        costs a microsecond."""
        if not self.recorder.sampled and not always:
            return 0
        frame = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            skip = self.skips.get(code)
            if skip is None:
                skip = self.skips[code] = code.co_filename.startswith(SKIPPED)
            if not skip:
                return self.site(code, frame.f_lineno)
            frame = frame.f_back
        return 0

    def site(self, code, line):
        key = (code, line)
        if key not in self.known:
            self.known[key] = self.recorder.writer.site(code.co_filename, line, code.co_name)
        return self.known[key]
