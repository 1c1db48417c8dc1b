"""No two programs of the pool have more than a third of their lines in common, nor two hosts."""

import ast
import collections
import itertools
import unittest

from watching import FOLDER

MOST_SHARED = 1 / 3


def lines(path):
    """How often each line stands in a program as Python itself would lay it out: without imports,
    comments and docstrings."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if hasattr(node, "body") and isinstance(node.body, list):
            node.body = [part for part in node.body if not is_aside(part)] or [ast.Pass()]
    return collections.Counter(line.strip() for line in ast.unparse(tree).splitlines() if line)


def is_aside(statement):
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def shares(folder):
    """Of each two programs of a folder, the share of the shorter one's lines that both have, and
    their names; the largest first."""
    programs = {path.stem: lines(path) for path in sorted((FOLDER / folder).glob("*.py"))}
    found = [((a & b).total() / min(a.total(), b.total()), first, second)
             for (first, a), (second, b) in itertools.combinations(programs.items(), 2)]
    return sorted(found, reverse=True)


class Sharing(unittest.TestCase):
    def test_no_two_programs_share_more_than_a_third_of_their_lines(self):
        for folder in ("healthy", "hosts"):
            found = shares(folder)
            self.assertTrue(found)
            self.assertLessEqual(found[0][0], MOST_SHARED, found[:8])


if __name__ == "__main__":
    unittest.main()
