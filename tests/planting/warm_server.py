"""Runs programs in forks of a process that has torch already, for whoever asks on a socket.

    python warm_server.py SOCKET          serves; one child for each that asks
    python warm_server.py SOCKET FILE.py  asks: stands for `python FILE.py ...` and ends with its status

The one who asks is what `dlcheck run` starts: environment and folder are those that it has, so that the
fork is watched as a process of its own would be. What the program prints is thrown away. Where the environment
has PLANTING_STATE, the name of a file, a digest of its end goes there.
"""

import gc
import json
import os
import socket
import sys


def ask(path, words):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        request = {"words": words, "environment": dict(os.environ), "folder": os.getcwd()}
        connection.sendall(json.dumps(request).encode() + b"\n")
        status = int(connection.makefile().readline())
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)


def serve(path):
    """Gives the request in the child that is to run it; the parent never returns."""
    import signal

    import torch
    import torch._dynamo
    import torch.utils.data  # noqa: F401

    gc.collect()
    gc.freeze()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(path)
    listening.listen(8)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            request = json.loads(connection.makefile().readline())
            child = os.fork()
            if child == 0:
                connection.close()
                return request
            connection.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n".encode())
            os._exit(0)
        connection.close()


def run(code, module, state):
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
    if len(sys.argv) > 2:
        ask(sys.argv[1], sys.argv[2:])
    given = serve(sys.argv[1])
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    from tests.observe import warm

    source, name = warm.become({**given, "command": ["python", "-W", "ignore", *given["words"]],
                                "out": os.devnull, "err": given["environment"].get("PLANTING_ERRORS", os.devnull)})
    warm.reseed()
    code = compile(source, name, "exec", dont_inherit=True)
    boot = given["environment"].get("PYTHONPATH", "").split(":")[0]
    if "DLCHECK_REQUEST" in given["environment"] and os.path.exists(os.path.join(boot, "sitecustomize.py")):
        warm.watch(boot)
    run(code, warm.main_module(name), given["environment"].get("PLANTING_STATE"))
