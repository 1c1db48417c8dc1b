"""Whether the report of a planted fault names a line that the fault changed. LEDGER holds the plants of which it did;
`ci/causes --update-lines` writes it.
"""

import ast
import difflib
import functools

from planting import FAULTS, planted
from watching import FOLDER

LEDGER = FOLDER / "lines_of_causes.txt"  # fault and host in each line


def changed_lines(fault, host):
    """Numbers of the lines that a fault changed, with those around a place where it took some out."""
    plant = FAULTS[fault]
    healthy = (FOLDER / plant.folder / f"{host}.py").read_text()
    faulty = planted(fault, host)
    if plant.folder == "hosts":  # whose names are changed on the syntax tree
        healthy, faulty = (ast.unparse(ast.parse(source)) for source in (healthy, faulty))
    matcher = difflib.SequenceMatcher(None, healthy.split("\n"), faulty.split("\n"), autojunk=False)
    return {number for operation, _, _, begin, end in matcher.get_opcodes() if operation != "equal"
            for number in range(begin, end + 2)}  # fmt: skip


def names_the_line(fault, host, report):
    """`report`: what `check_faults.watched` gives for it."""
    return not changed_lines(fault, host).isdisjoint(number for number, _ in report["lines"])


@functools.cache
def known():
    """(fault, host) of the plants whose line was named when that was last looked at."""
    return {tuple(line.split()) for line in LEDGER.read_text().splitlines()}


def update(lines):
    """Takes the results of some plants, as `check_faults.py --into` writes them, into the ledger."""
    results = {(line["fault"], line["host"]): names_the_line(line["fault"], line["host"], line) for line in lines}
    named = {pair for pair in known() if pair[0] in FAULTS and results.get(pair, True)}
    named |= {pair for pair, right in results.items() if right}
    LEDGER.write_text("".join(f"{fault} {host}\n" for fault, host in sorted(named)))
