"""What benchmarks run: processes of one thread each, which tell the milliseconds of a step."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
PYTHON = ROOT / ".venv/bin/python3"
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1")


def build(target):
    """Builds what a whole build leaves out."""
    subprocess.run(["cmake", "--build", BUILD, "--target", target], stdout=subprocess.DEVNULL, check=True)


def milliseconds(command):
    """The last word that the command prints."""
    process = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=ENVIRONMENT,
                             check=False)
    if process.returncode != 0:
        sys.exit(f"{command}: {process.stderr}")
    return float(process.stdout.split()[-1])


def trainer(model, width, steps, *flags):
    """From the seconds in the trainer's own log: the second half of its steps."""
    with tempfile.TemporaryDirectory(prefix="dlcheck-benchmark-") as folder:
        log = pathlib.Path(folder) / "log.jsonl"
        command = [BUILD / "bin/dlcheck-train", "--model", model, "--width", width, "--steps", 2 * steps + 1,
                   "--optimizer", "adamw", "--weight-decay", 0.1, "--batch-size",
                   8 if model == "gpt" else 64, "--evaluate-every", 10**9, "--evaluate-samples", 8, "--log", log,
                   "--log-every", steps, *flags]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        seconds = {line["step"]: line["seconds"] for line in lines if "loss" in line}
        return (seconds[2 * steps] - seconds[steps]) / steps * 1e3
