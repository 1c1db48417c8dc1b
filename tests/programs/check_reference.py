"""Runs `dlcheck reference` on healthy programs, which it must never call weak, and on weak ones, whose half it must name.

  check_reference.py [--jobs N] [--steps N]   print a row a program, and a line that counts them

A weak program is a host with a fault of one half: of its optimizer, of its model, or of its data.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import plants  # noqa: F401
from planting import planted
from watching import DLCHECK, FOLDER, environment, python

# Fault, host and the half that is weak.
WEAK = [
    ("rate_of_nearly_nothing", "windowed_signal", "optimizer"),
    ("rate_of_nearly_nothing", "next_symbols", "optimizer"),
    ("rate_of_nearly_nothing", "masked_tagger", "optimizer"),
    ("rate_a_thousand_times_too_large", "masked_tagger", "optimizer"),
    ("rate_a_thousand_times_too_large", "packed_rows", "optimizer"),
    ("epsilon_of_one", "plain_script", "optimizer"),
    ("epsilon_of_one", "windowed_signal", "optimizer"),
    ("deep_sigmoids", "plain_script", "model"),
    ("units_without_values", "plain_script", "model"),
    ("epsilon_of_ten", "plain_script", "model"),
    ("keeps_a_tenth", "plain_script", "model"),
    ("norm_of_the_batch", "running_average", "model"),
    ("targets_of_other_samples", "plain_script", "data"),
    ("targets_of_other_samples", "masked_tagger", "data"),
    ("targets_of_other_samples", "packed_rows", "data"),
]
EVERY, FIRST = 11, 5  # of the healthy programs in the order of their names


def judged(source, steps):
    """(severity, weak half, what was said), or None where nothing was captured."""
    with tempfile.TemporaryDirectory(prefix="dlcheck-reference-") as folder:
        pathlib.Path(folder, "train.py").write_text(source)
        own = environment() | {"OMP_NUM_THREADS": "1"}
        subprocess.run([DLCHECK, "run", "--no-live", "--capture", str(steps), "--", *python("train.py")],
                       cwd=folder, env=own, capture_output=True)  # fmt: skip
        said = subprocess.run([DLCHECK, "reference"], cwd=folder, env=own, capture_output=True, text=True)
        result = pathlib.Path(folder, "dlcheck-out/reference.json")
        if not result.exists():
            return None, said.stderr.strip()[-90:]
        found = json.loads(result.read_text())
        half = re.match(r"Likely cause: the (\w+)", found["weak"])
        return (found["severity"], half[1] if half else ""), found["text"]


def programs():
    """(name, source, the half that is weak or None)."""
    for path in sorted(FOLDER.joinpath("healthy").glob("*.py"))[FIRST::EVERY]:
        yield path.stem, path.read_text(), None
    for fault, host, half in WEAK:
        yield f"{fault} in {host}", planted(fault, host), half


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=400, help="that are captured")
    options = parser.parse_args()
    counts = {"healthy": 0, "called weak": 0, "weak": 0, "half right": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        started = [(name, half, pool.submit(judged, source, options.steps)) for name, source, half in programs()]
        for name, half, result in started:
            found, text = result.result()
            print(f"{name:50} {half or 'healthy':10} {' '.join(found) if found else 'not captured':20} {text[:90]}", flush=True)
            if found is None:
                continue
            counts["weak" if half else "healthy"] += 1
            counts["called weak"] += half is None and found[0] in ("warning", "error")
            counts["half right"] += half is not None and found[1] == half
    print(f"{counts['healthy']} healthy programs were captured, {counts['called weak']} of them called weak; "
          f"of {counts['weak']} weak ones the half was named right in {counts['half right']}")  # fmt: skip
    return 1 if counts["called weak"] else 0


if __name__ == "__main__":
    sys.exit(main())
