"""python3 -m dlcheck_suggest RESULT [FOLDER]: prints a unified diff that mends the first finding of a result.json for
which a repair is known. With a folder, writes there the diff, the whole changed text, and what it is for.
"""

import ast
import difflib
import json
import os
import pathlib
import signal
import sys

from .repairs import CHANGES_LOSS, REPAIRS
from .source import Source

MOST_PLACES = 8
MOST_BYTES = 1 << 20  # of a file that is read
MOST_SECONDS = 30  # for a folder, since somebody waits


def suggestion(finding, check):
    """(lines before, lines after, file), by the first line of the finding that has a repair; or why there is none."""
    places = [place for place in finding.get("places", ()) if place.get("line")]
    changes = [change_at(place, check, finding["message"]) for place in places[:MOST_PLACES]]
    found = next((change for change in changes if not isinstance(change, str)), None)
    return found or (changes[0] if changes else "its finding names no line")


def change_at(place, check, message):
    try:
        with open(place["file"], encoding="utf-8") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            return f"{place['file']} is too long"
        lines = REPAIRS[check](source := Source(text), place["line"], message)
        if lines is None:
            return f"{place['file']}:{place['line']} is written in a form that is not understood"
        ast.parse("".join(lines))
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError) as error:
        return f"{place['file']}: {error}"
    return source.lines, lines, place["file"]


def diff_of(before, after, file):
    diff = difflib.unified_diff(before, after, file, file)
    return "".join(line if line.endswith("\n") else line + "\n" for line in diff)


def escaped(text):
    """As a field of a line; `EscapeField` of the C++ side."""
    return "".join(f"%{ord(c):02X}" if c == "%" or ord(c) < 32 else c for c in text)


def write_into(folder, check, before, after, file):
    (folder / "changed").write_bytes("".join(after).encode())
    (folder / "change.diff").write_text(diff_of(before, after, file))
    fields = {"check": check, "file": os.path.realpath(file), "keeps_loss": str(int(check not in CHANGES_LOSS))}
    lines = [f"{key}\t{escaped(value)}\n" for key, value in fields.items()]
    (folder / "suggestion").write_text("".join(lines))


def main(path, folder=None):
    if folder is not None:
        signal.alarm(MOST_SECONDS)
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    findings = {check["id"]: check["findings"][0] for check in result["checks"] if check.get("findings")}
    for check in (cause["id"] for cause in result["order"]):
        if check not in REPAIRS or check not in findings:
            continue
        change = suggestion(findings[check], check)
        if isinstance(change, str):
            print(f"dlcheck: no suggestion for {check}: {change}", file=sys.stderr)
            continue
        if folder is not None:
            write_into(pathlib.Path(folder), check, *change)
            return 0
        print(f"# {check}: {findings[check]['message']}\n{diff_of(*change)}", end="")
        if (tried := result.get("tried", {})).get("check") == check:
            print(f"# {tried['outcome']}")
        return 0
    print("dlcheck: no finding has a repair that is known here", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
