"""A training program without torch, which writes its records by the shim's own writer: starts in tens of
milliseconds what `dlcheck run` watches.

  recording.py STEPS [--healthy] [--status N]    unless it is healthy, the loss of the last step is NaN
"""

import argparse
import os
import pathlib
import sys
import time

LOG = "log.txt"  # a line a step, in the working folder
EXPERIMENTS = "plain same_seed"


class Training:
    """Writes what a probe would of a layer and its optimizer."""

    def __init__(self, writer, names):
        self.writer, self.names = writer, names
        self.loss = writer.thing("loss", 0, "mse_loss")
        self.optimizer = writer.thing("optimizer", 0, "")
        self.weight = writer.thing("parameter", 0, "weight")

    def step(self, number, loss):
        put, weight, optimizer = self.writer.put, self.weight, self.optimizer
        events, quantities = self.names.EVENTS, self.names.QUANTITIES
        put(QUANTITY, quantities["loss"], number, 0, self.loss, 0, 0, loss, 8.0)
        put(EVENT, events["backward"], number, 0, self.loss, 0, 0, 0.0, 0.0)
        put(QUANTITY, quantities["gradient_norm"], number, 1, weight, 0, optimizer, 0.5, 0.0)
        put(EVENT, events["step"], number, 1, optimizer, 0, optimizer, 0.0, 0.0)
        self.writer.end_step()


EVENT, QUANTITY = 1, 2


def open_writer():
    """As the shim does it, where this process is watched; else nothing."""
    shim = sys.modules.get("dlcheck_shim")
    if shim is None:
        return None
    from dlcheck_shim.record import names, record_files, request, writer

    asked = request.read_request(pathlib.Path(os.environ["DLCHECK_REQUEST"]).parent / "boot")
    try:
        opened = writer.TraceWriter(asked.run_folder, run=asked.run)
    except OSError as error:
        record_files.note_loss(asked.run_folder, os.getpid(), str(error))
        return None
    opened.attribute(0, "capabilities", EXPERIMENTS)
    return Training(opened, names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", type=int)
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--status", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0, help="seconds a step")
    options = parser.parse_args()
    training = open_writer()
    # As the shim does it: where files are not private, an experiment changes none.
    path = os.devnull if os.environ.get("DLCHECK_PRIVATE_FILES") == "0" else LOG
    for number in range(options.steps):
        is_wrong = number + 1 == options.steps and not options.healthy
        with open(path, "a") as log:
            log.write(f"step {number}\n")
        if training:
            training.step(number, float("nan") if is_wrong else 1 / (number + 1))
        time.sleep(options.pause)
    if training:
        training.writer.close()
    print(f"{options.steps} steps", flush=True)
    print("the end", file=sys.stderr)
    return options.status


if __name__ == "__main__":
    sys.exit(main())
