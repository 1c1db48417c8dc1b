"""Runs a program and writes a digest of where it ends: what it printed, and the parameters of all optimizers.

    end_state.py DIGEST_FILE PROGRAM.py

Two programs with the same digest did the same; a fault without effect is none.
"""

import hashlib
import io
import sys

import torch

MOST_OPTIMIZERS = 100  # of a program that builds one in each pass

optimizers = []
original = torch.optim.Optimizer.__init__


def remember(self, *args, **kwargs):
    original(self, *args, **kwargs)
    if len(optimizers) < MOST_OPTIMIZERS:
        optimizers.append(self)
    else:
        optimizers[-1] = self


def digest(printed):
    found, seen = hashlib.sha256(printed.encode()), set()
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if id(parameter) in seen:
                    continue  # several optimizers of the same parameters change nothing by being several
                seen.add(id(parameter))
                found.update(str(parameter.dtype).encode())
                found.update(bytes(parameter.detach().contiguous().view(-1).view(torch.uint8).untyped_storage()))
    return found.hexdigest()


torch.optim.Optimizer.__init__ = remember
target, program = sys.argv[1:3]
sys.argv[:] = [program]
sys.stdout = io.StringIO()
module = sys.modules["__main__"]
code = compile(open(program).read(), program, "exec", dont_inherit=True)
module.__dict__["__file__"] = program
ended = "whole"
try:
    exec(code, module.__dict__)
except SystemExit:
    pass
except BaseException as error:
    ended = type(error).__name__
with open(target, "w") as file:
    file.write(f"{ended} {digest(sys.stdout.getvalue())}")
