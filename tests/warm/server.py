"""Runs programs in forks of a process that has torch already, for whoever asks on a socket: the import is most of the
time of a small program.

    python -W ignore server.py SOCKET

A request is a line of JSON (words, environment, folder) with the three streams of the program; the answer is the
exit status, as subprocess has it. The program ends with the one who asked. Where the environment has
PLANTING_STATE, the name of a file, a digest of the program's end goes there.
"""

import gc
import json
import os
import pathlib
import select
import signal
import socket
import sys

HERE = pathlib.Path(__file__).resolve().parent
LONGEST_REQUEST = 1 << 22
LONGEST_PAUSE = 3600  # seconds without a request, after which nobody is there any more
SECONDS_BETWEEN_LOOKS = 0.002


def serve(path):
    """(request, streams) in the fork that is to run it; the parent never returns."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(path)
    listening.listen(64)
    listening.settimeout(LONGEST_PAUSE)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            sys.exit()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return child_of(connection)
        connection.close()


def child_of(connection):
    """(request, streams) in the fork that is to run it; the process that waits for it answers and ends."""
    text, streams = received(connection)
    child = os.fork()
    if child == 0:
        connection.close()
        return json.loads(text), streams
    for stream in streams:
        os.close(stream)
    connection.sendall(f"{status_of(child, connection)}\n".encode())
    os._exit(0)


def received(connection):
    text, streams, *_ = socket.recv_fds(connection, LONGEST_REQUEST, 3)
    while not text.endswith(b"\n"):
        more = connection.recv(LONGEST_REQUEST)
        if not more:
            os._exit(1)
        text += more
    return text, streams


def status_of(child, connection):
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if select.select([connection], [], [], SECONDS_BETWEEN_LOOKS)[0]:  # the one who asked is gone
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os._exit(0)


def run(code, name, state):
    """Runs the program to its end. What it raises ends it as it ends a Python of its own."""
    status = 0
    try:
        run_to_state(code, program.main_module(name), state)
    except SystemExit as stopped:
        status = ending.status_of(stopped.code)
        if status is None:
            raise
    ending.end(status)


def run_to_state(code, module, state):
    if state is None:
        exec(code, module)
        return
    from tests.planting.end_state import EndState

    end, ended = EndState(), "whole"
    try:
        exec(code, module)
    except SystemExit:
        raise
    except BaseException as error:
        ended = type(error).__name__
        raise
    finally:
        end.write(state, ended)


if __name__ == "__main__":
    import torch
    import torch._dynamo
    import torch.utils.data  # noqa: F401

    sys.path.append(str(HERE.parents[1]))
    from tests.warm import ending, program

    sys.path.pop()  # programs find no `tests` of ours
    gc.collect()
    gc.freeze()
    request, streams = serve(sys.argv[1])
    source, name = program.become(request, streams)
    program.reseed()
    code = compile(source, name, "exec", dont_inherit=True)
    program.customize(program.add_path(request))
    run(code, name, request["environment"].get("PLANTING_STATE"))
