"""What the probe uses of the system, as it was before the program began: the program may put functions of
its own in these places, which count, fail, or tell another time."""

import builtins
import os
import time

open_file = builtins.open
open_, close, read, write = os.open, os.close, os.read, os.write
fstat, ftruncate, pread, pwrite = os.fstat, os.ftruncate, os.pread, os.pwrite
mkdir, getpid = os.mkdir, os.getpid
fallocate = getattr(os, "posix_fallocate", None)
monotonic_ns, perf_counter = time.monotonic_ns, time.perf_counter
