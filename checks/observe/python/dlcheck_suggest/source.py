"""The source of a program: its statements, and edits of its lines."""

import ast


class Source:
    """Errors: SyntaxError and ValueError where the text is no Python."""

    def __init__(self, text):
        self.lines = text.splitlines(keepends=True)
        self.tree = ast.parse(text)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def statement_at(self, line):
        """The innermost statement that a line belongs to; None without one."""
        found = None
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
                if found is None or node.lineno >= found.lineno:
                    found = node
        return found

    def calls_at(self, line):
        """Calls that begin on a line, or go over it."""
        return [node for node in ast.walk(self.tree)
                if isinstance(node, ast.Call) and node.lineno <= line <= node.end_lineno]  # fmt: skip

    def scope_of(self, node):
        """The function that a node stands in, or the module."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
        return self.tree

    def block_of(self, statement):
        """The list of statements that one stands in."""
        parent = self.parents.get(statement)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        return []

    def around_in(self, node, block):
        """The statement of a block that a node stands in, or is; None where it stands elsewhere."""
        while node is not None and node not in block:
            node = self.parents.get(node)
        return node

    def text_of(self, node):
        """As it is written; of one on a single line only, None of any other."""
        if node.lineno != node.end_lineno:
            return None
        line = self.lines[node.lineno - 1].encode()
        return line[node.col_offset : node.end_col_offset].decode()

    # Edits, each of which gives the lines of the whole program.

    def inserted(self, before, text):
        """`text` as a line of its own before a statement, as deep as that."""
        at = before.lineno - 1
        return [*self.lines[:at], self.indent_of(before) + text + "\n", *self.lines[at:]]

    def appended(self, after, text):
        at = after.end_lineno
        return [*self.lines[:at], self.indent_of(after) + text + "\n", *self.lines[at:]]

    def moved(self, statement, before):
        """Without a statement in its place, and with it before another one of its block."""
        own = self.lines[statement.lineno - 1 : statement.end_lineno]
        rest = [line if not statement.lineno <= number <= statement.end_lineno else None
                for number, line in enumerate(self.lines, 1)]  # fmt: skip
        at = before.lineno - 1
        return [line for line in [*rest[:at], *own, *rest[at:]] if line is not None]

    def replaced(self, node, text):
        """With other text in the place of a node that stands on one line."""
        line = self.lines[node.lineno - 1].encode()
        line = line[: node.col_offset] + text.encode() + line[node.end_col_offset :]
        return [*self.lines[: node.lineno - 1], line.decode(), *self.lines[node.lineno :]]

    def indent_of(self, statement):
        line = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]


def is_call_of(node, *names):
    """Whether a node calls a method or function of one of these names."""
    return isinstance(node, ast.Call) and name_of(node.func) in names


def name_of(node):
    """`step` of `self.optimizer.step`, `softmax` of `softmax`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def receiver_of(call):
    """What a method is called on, as text: `self.optimizer`; None of a function."""
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else None
