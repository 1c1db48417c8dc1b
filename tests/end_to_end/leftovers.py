"""What a run could leave behind on this machine."""

import os
import pathlib
import re

YOUTH = 11  # seconds in which an abandoned folder is left alone
PRIVATE_PLACES = ("/tmp", "/var/tmp", "/dev/shm")


def private_folders():
    """Folders that experiments write to, as mkdtemp names them."""
    return {str(path) for place in PRIVATE_PLACES for path in pathlib.Path(place).glob("dlcheck-??????")}


def processes_below(folder):
    """Processes that stand in the folder, or were started with it in their command."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            place = os.readlink(process / "cwd")
        except OSError:
            continue  # it has ended
        if str(folder) in command or place.startswith(str(folder)):
            found.append(f"process {process.name}: {command}")
    return found


def children_of(parent):
    """Numbers of the processes that it started."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            after_name = (process / "stat").read_text().rsplit(") ", 1)[1]
        except OSError:
            continue
        if int(after_name.split()[1]) == parent:
            found.append(int(process.name))
    return found


def mounts_below(folder):
    """Mount points below the folder."""
    with open("/proc/self/mountinfo") as mounts:
        points = [line.split()[4] for line in mounts]
    return [point for point in points if re.match(re.escape(str(folder)), point)]
