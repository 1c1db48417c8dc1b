"""The text format of side files and requests, as checks/records/line_file.h describes it."""

HEX = "0123456789ABCDEF"
ESCAPES = {b: "%" + HEX[b >> 4] + HEX[b & 15] for b in [*range(32), 127, ord("%")]}


def format_line(*fields):
    """One line with its newline, as bytes. Fields are texts or numbers."""
    return ("\t".join(str(f).translate(ESCAPES) for f in fields) + "\n").encode(
        "utf-8", "surrogateescape"
    )


def unescape(text):
    """A malformed escape is kept as it stands."""
    parts = text.encode("utf-8", "surrogateescape").split(b"%")
    out = [parts[0]]
    for part in parts[1:]:
        try:
            out.append(bytes([int(part[:2].decode("ascii"), 16)]) + part[2:])
        except (ValueError, UnicodeDecodeError):
            out.append(b"%" + part)
    return b"".join(out).decode("utf-8", "surrogateescape")


def parse_lines(text):
    """Fields of all complete lines; a last line without its newline was torn and is ignored."""
    return [[unescape(f) for f in line.split("\t")] for line in text.split("\n")[:-1] if line]
