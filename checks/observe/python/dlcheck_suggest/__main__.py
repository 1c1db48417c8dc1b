"""python3 -m dlcheck_suggest RESULT: prints a unified diff that mends the first finding of a result.json for which a
repair is known, and writes nothing.
"""

import ast
import difflib
import json
import sys

from .repairs import REPAIRS
from .source import Source

MOST_BYTES = 1 << 20  # of a file that is read


def suggestion(finding, check):
    """(diff, None), or (None, why there is none)."""
    place = next((p for p in finding.get("places", ()) if p.get("line")), None)
    if place is None:
        return None, "its finding names no line"
    try:
        with open(place["file"], encoding="utf-8") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            return None, f"{place['file']} is too long"
        lines = REPAIRS[check](source := Source(text), place["line"], finding["message"])
        if lines is None:
            return None, f"{place['file']}:{place['line']} is written in a form that is not understood"
        ast.parse("".join(lines))
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError) as error:
        return None, f"{place['file']}: {error}"
    diff = difflib.unified_diff(source.lines, lines, place["file"], place["file"])
    return "".join(line if line.endswith("\n") else line + "\n" for line in diff), None


def main(path):
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    findings = {check["id"]: check["findings"][0] for check in result["checks"] if check.get("findings")}
    for check in (cause["id"] for cause in result["order"]):
        if check not in REPAIRS or check not in findings:
            continue
        diff, why = suggestion(findings[check], check)
        if diff is not None:
            print(f"# {check}: {findings[check]['message']}\n{diff}", end="")
            return 0
        print(f"dlcheck: no suggestion for {check}: {why}", file=sys.stderr)
    print("dlcheck: no finding has a repair that is known here", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
