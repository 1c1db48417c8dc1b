"""The files of a run folder that a process writes: its records, their names, and what was lost."""

import errno
import os

from ..system import close, mkdir, open_, write
from .line_file import format_line
from .owned_file import OwnedFile

MOST_FILES_OF_ONE_PROCESS_ID = 1000
LOSSES_FILE = "losses"


def create_files(folder, process):
    """Record file and side file; a process id can come back, so each use gets files of its own."""
    try:
        mkdir(folder, 0o700)
    except FileExistsError:
        pass
    for use in range(MOST_FILES_OF_ONE_PROCESS_ID):
        stem = os.path.join(folder, f"{process}-{use}")
        try:
            return OwnedFile(stem + ".records"), OwnedFile(stem + ".names")
        except FileExistsError:
            continue
    raise OSError(errno.EEXIST, "too many record files of one process id")


def note_loss(run_folder, process, reason):
    """Best effort: the records themselves cannot be written."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = open_(os.path.join(run_folder, LOSSES_FILE), flags, 0o600)
    except OSError:
        return
    try:
        write(file, format_line(process, reason))
    except OSError:
        pass
    finally:
        close(file)
