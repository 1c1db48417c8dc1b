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
    processes: int = 1  # that torchrun starts
    folder: str = "hosts"  # where the hosts are


def planted(fault, host):
    """The source of a host with a fault in it."""
    source = (FOLDER / FAULTS[fault].folder / f"{host}.py").read_text()
    return replaced(source, FAULTS[fault].hosts[host], f"{fault} in {host}.py")


def replaced(source, changes, name):
    """The source with each old text, which has to be there exactly once, replaced by its new one."""
    for old, new in changes:
        if source.count(old) != 1:
            raise ValueError(f"{name}: {old!r} stands {source.count(old)} times")
        source = source.replace(old, new)
    return source


def add(name, check, options=(), processes=1, folder="hosts", **hosts):
    FAULTS[name] = Fault(check, hosts, tuple(options), processes, folder)


FAULTS = {}
