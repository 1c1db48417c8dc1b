"""Stands for Python where a command is wanted: asks a server for a fork that runs the program, and ends as it ends.

    python -S -E client.py SOCKET PROGRAM.py ...
"""

import json
import os
import socket
import sys


def ask(path, words, environment, folder, streams, seconds=None):
    """The exit status of a program, as subprocess has it; `streams` are file descriptors for its three. After so
    many seconds it is killed, and TimeoutError raised."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        connection.connect(path)
        request = json.dumps({"words": words, "environment": environment, "folder": folder}).encode() + b"\n"
        sent = socket.send_fds(connection, [request], streams)
        connection.sendall(request[sent:])
        return int(connection.makefile().readline())


def end_as(status):
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    end_as(ask(sys.argv[1], sys.argv[2:], dict(os.environ), os.getcwd(), (0, 1, 2)))
