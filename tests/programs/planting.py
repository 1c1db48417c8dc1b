"""How faults are planted in the hosts: by rewriting their source, so that they hold no switch.

For each fault: the check that must find it, and for each host the texts that are replaced, each with
what takes its place. Each old text must be there exactly once.
"""

import dataclasses

from watching import FOLDER


@dataclasses.dataclass(frozen=True)
class Fault:
    check: str
    hosts: dict
    options: tuple = ()


def planted(fault, host):
    """The source of a host with a fault in it."""
    source = (FOLDER / "hosts" / f"{host}.py").read_text()
    for old, new in FAULTS[fault].hosts[host]:
        if source.count(old) != 1:
            raise ValueError(f"{fault}: {old!r} stands {source.count(old)} times in {host}.py")
        source = source.replace(old, new)
    return source


def add(name, check, options=(), **hosts):
    FAULTS[name] = Fault(check, hosts, tuple(options))


FAULTS = {}

# Faults that a host is known to hide, and why: left out where each fault runs in one host alone.
MISSED = {
    ("batch_collapsed", "framework"): "the mean of a batch",
    ("batch_collapsed", "running_average"): "a slice of a batch",
    ("ragged_tail", "finetune"): "several optimizers",
    ("shared_rows", "plain_script"): "a loader that drops its last batch",
    ("memory_grows", "trainer_class"): "memory of a run in two halves",
    ("optimizer_not_loaded", "plain_script"): "a file that the run wrote",
    ("optimizer_not_saved", "plain_script"): "one file, written again and again",
    ("optimizer_not_saved", "workers_and_contexts"): "files of a run that ends",
}
