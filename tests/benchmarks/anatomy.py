"""Where the time of a watched step goes, by the file of the probe that takes it.

  dlcheck run -- python anatomy.py MODEL LAST   prints a table

Steps from 16 to 63, which are all recorded in full, are profiled apart from steps from 64 to LAST that are recorded in
part. Python's profiler slows calls down, so the times tell shares and no price: ci/benchmark-watching measures that.
Time in functions of torch counts for the file that calls them.
"""

import collections
import cProfile
import os
import pstats
import sys

import watched_loop

FIRST, ALWAYS, ROWS = 16, 64, 14
PROBE = os.sep + "dlcheck_shim" + os.sep


def is_sampled(step):
    """As checks/records/sampling.h has it."""
    if step < ALWAYS:
        return True
    start = 1 << (step.bit_length() - 1)
    return (step - start) % (start // 8) < 4


def part_of(place):
    """The file of the probe, without its folder; None for any other."""
    return place[0].split(PROBE)[-1] if PROBE in place[0] else None


def shares(profile, steps):
    """By file of the probe: calls and microseconds a step."""
    found = collections.defaultdict(lambda: [0.0, 0.0])
    for place, (_, calls, own, _, callers) in pstats.Stats(profile).stats.items():
        part = part_of(place)
        if part:
            found[part][0] += calls / steps
            found[part][1] += 1e6 * own / steps
            continue
        for caller, (_, _, own_from_there, _) in callers.items():
            if part_of(caller):
                found[part_of(caller)][1] += 1e6 * own_from_there / steps
    return found


def show(name, kind, found, steps):
    print(f"| {name}, {kind}, {steps} steps | calls a step | microseconds a step, as profiled |\n|---|---|---|")
    ranked = sorted(found.items(), key=lambda item: -item[1][1])
    for part, (calls, time) in ranked[:ROWS]:
        print(f"| `{part}` | {calls:.1f} | {time:.0f} |")
    rest = ranked[ROWS:]
    print(f"| {len(rest)} more | {sum(calls for _, (calls, _) in rest):.1f} | {sum(time for _, (_, time) in rest):.0f} |")
    print(f"| all | {sum(calls for calls, _ in found.values()):.1f} | {sum(time for _, time in found.values()):.0f} |\n",
          flush=True)  # fmt: skip


def main():
    name, last = sys.argv[1], int(sys.argv[2])
    step_of = watched_loop.steps_of(name)
    kinds = {True: (cProfile.Profile(), []), False: (cProfile.Profile(), [])}
    for step in range(last):
        profile, taken = kinds[is_sampled(step)]
        if step < FIRST or is_sampled(step) and step >= ALWAYS:
            step_of(step)
            continue
        taken.append(step)
        profile.enable()
        step_of(step)
        profile.disable()
    for kind, sampled in (("recorded in full", True), ("recorded in part", False)):
        profile, taken = kinds[sampled]
        show(name, kind, shares(profile, len(taken)), len(taken))


main()
