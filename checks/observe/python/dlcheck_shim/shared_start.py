"""Where all experiments of a run begin: a process that has imported torch as the program does it, and waits there.

For each experiment it forks a process, which enters the files and the network that the supervisor has made for it
and goes on with the program. Nothing is shared but what a program has done before torch was there: one that has
open files, threads or children by then is not forked.
"""

import os
import sys
import time

NAMESPACES = {"user": 0x10000000, "net": 0x40000000, "mnt": 0x00020000}  # by name, the flag of setns
SET_DEATH_SIGNAL, KILL = 1, 9
MOST_BYTES = 1 << 16  # of a message


class CannotEnter(Exception):
    pass


def open_files():
    """By descriptor of this process, what it stands for."""
    found = {number: identity(number) for number in map(int, os.listdir("/proc/self/fd"))}
    return {number: what for number, what in found.items() if what is not None}


def wait(request, folder, inherited):
    """In the first process: never returns. In those for experiments: the boot folder of their request. `folder` is the
    boot folder of the first process, which began with the files `inherited`."""
    channel = request.channel
    is_first = os.getppid() == request.supervisor  # no child of it, which is not the one to be forked
    if not is_first or identity(channel) != inherited.get(channel):  # nor was the socket closed
        os.kill(0, KILL)  # the group, so that the supervisor does without
        os._exit(1)
    if not is_alone(inherited):
        os.write(channel, b"no")
        os._exit(0)
    for stream in (sys.stdout, sys.stderr):
        flush(stream)
    os.write(channel, b"ready %d" % os.getpid())
    while True:
        message = os.read(channel, MOST_BYTES)
        if not message:
            os._exit(0)
        holder, run_folder = message.split(b"\0")
        forked = fork_once(channel, int(holder), os.fsdecode(run_folder), folder)
        if forked is not None:
            return forked


def is_alone(inherited):
    """Whether this process has one thread, no children, and no files open but these."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return False
    except ChildProcessError:
        pass
    return len(os.listdir("/proc/self/task")) == 1 and open_files().items() <= inherited.items()


def identity(number):
    try:
        found = os.fstat(number)
    except OSError:  # that of the listing itself
        return None
    return found.st_dev, found.st_ino


def flush(stream):
    try:
        stream.flush()
    except (AttributeError, OSError, ValueError):
        pass


def fork_once(channel, holder, run_folder, folder):
    """None in this process, which has told the number of the new one; in that, its boot folder."""
    told, tells = os.pipe()
    between = os.fork()
    if between:
        os.close(tells)
        os.waitpid(between, 0)
        with os.fdopen(told, "rb") as answer:
            os.write(channel, answer.read() or b"failed")
        return None
    first = os.getpid()
    if os.fork():
        os._exit(0)
    try:
        os.close(told)
        os.close(channel)
        become(first, holder, run_folder)
        boot = take_over(run_folder, folder)
        os.write(tells, b"%d" % os.getpid())
        os.close(tells)
    except BaseException:
        os._exit(1)
    return boot


def become(parent, holder, run_folder):
    """Enters the namespaces of a process, and leaves the terminal and the group of the first one."""
    import ctypes  # as torch does: not before the program has it

    system = ctypes.CDLL(None, use_errno=True)
    here = os.getcwd()
    for name, flag in NAMESPACES.items():
        theirs, own = f"/proc/{holder}/ns/{name}", f"/proc/self/ns/{name}"
        if os.stat(theirs).st_ino == os.stat(own).st_ino:
            continue
        file = os.open(theirs, os.O_RDONLY | os.O_CLOEXEC)
        if system.setns(file, flag) != 0:
            raise CannotEnter(name)
        os.close(file)
    os.chdir(here)
    os.setpgid(0, 0)
    while os.getppid() == parent:  # the signal is that of the parent's end
        time.sleep(0.0005)
    system.prctl(SET_DEATH_SIGNAL, KILL)
    log = os.open(os.path.join(run_folder, "output"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)


def take_over(run_folder, folder):
    """What the environment says of the run."""
    boot = os.path.join(run_folder, "boot")
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(boot if part == folder else part for part in path.split(os.pathsep))
    os.environ["DLCHECK_REQUEST"] = os.path.join(run_folder, "request")
    sys.path[:] = [boot if part == folder else part for part in sys.path]
    return boot

