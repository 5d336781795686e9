"""Reads the tests of the repository for scripts/check rules: their names, the rules that they name, and their levels.

A test names a rule in its name or in its documentation; a rule in any other comment does not count:

    Swift        the text of @Test or @Suite, and the /// comment directly above it
    JavaScript   the name given to test(…), suite(…) or describe(…), and the /** … */ comment directly above it
    Python       the name of a test function (test_wire_4_and_9_…), and the docstrings of functions and modules
    vectors      "rule" and "name" in a file of Tests/Vectors
"""

import ast
import functools
import json
import re
import typing

# Algorithms, encodings, licences, a weakness of a library, and a protocol in a vector.
NOT_RULES = {"AES", "CC0", "CVE", "P", "SHA", "SPDX", "SSH", "UTF"}
# A pattern that begins with a letter, and looks behind it afterwards, is found three times as fast.
RULE = re.compile(r"([A-Z](?<![\w-].)[A-Z0-9]*)-(\d+)(?:\s*(?:to|–|…)\s*\1-(\d+))?(?!\w)")
# In SVG, d="M9 8" is a path.
PROMISE = re.compile(r"([GHM](?<!\w.)(?<!d=\".))(\d)\b(?:\s*(?:to|–|…)\s*\1(\d)\b)?")
# The rules in front of a name, as in "G1, SIG-2 to SIG-4: a thing" and "SIG-2 a thing".
FRONT = re.compile(r"(?:(?:[A-Z]+-\d+|[GHM]\d)\b(?:, | and | to |–|…)?)+(?=:| |$)")

# A Swift string of one line, or of several between triple quotes.
SWIFT_TEXT = r'"""(?:\\.|(?!""").)*"""|"(?:\\.|[^"\\\n])*"'
SWIFT_TEST = re.compile(rf"((?:^[ \t]*///[^\n]*\n)*)^[ \t]*@(Test|Suite)\(\s*({SWIFT_TEXT})", re.MULTILINE | re.DOTALL)
JAVASCRIPT_TEST = re.compile(
    r"(/\*\*(?:(?!\*/).)*\*/\s*)?^[ \t]*(?:await\s+)?\b(test|suite|describe|it)\(\s*"
    r"""('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)""",
    re.MULTILINE | re.DOTALL)


class Test(typing.NamedTuple):
    path: str
    line: int
    # "test", "suite", "vector", or "text" for documentation without a name.
    kind: str
    name: str
    # The rules in front of the name, and all that the name and the documentation have.
    front: list
    rules: list

    @property
    def where(self):
        return f"{self.path}:{self.line}"


def in_swift(path):
    return path.endswith(".swift")


def numbered(prefix, first, last=None):
    dash = "-" if len(prefix) > 1 else ""
    return [f"{prefix}{dash}{n}" for n in range(int(first), int(last or first) + 1)]


def cited(text):
    """The rules and promises that a text cites, each with its place in the text."""
    for pattern in (RULE, PROMISE):
        for match in pattern.finditer(text):
            if match[1] not in NOT_RULES:
                yield from ((rule, match.start()) for rule in numbered(*match.groups()))


def rules_in(text):
    return list(dict.fromkeys(rule for rule, _ in cited(text)))


@functools.cache
def parsed(text):
    return ast.parse(text)


def texts_of_vector(value):
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        if key in ("rule", "name") and isinstance(member, str):
            yield member
        else:
            yield from texts_of_vector(member)


def functions(body):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body)


def names_in(path, text):
    """The tests of a file: line, kind, name, documentation."""
    if path.startswith("Tests/") and in_swift(path):
        for match in SWIFT_TEST.finditer(text) if "@Test" in text else ():
            yield text.count("\n", 0, match.start(3)) + 1, match[2].lower(), match[3].strip('"'), match[1]
    elif path.startswith("web-test-client/test/") and path.endswith(".js"):
        for match in JAVASCRIPT_TEST.finditer(text):
            kind = "test" if match[2] in ("test", "it") else "suite"
            yield text.count("\n", 0, match.start(3)) + 1, kind, match[3][1:-1], match[1] or ""
    elif path.startswith("Tests/") and path.endswith(".py") and path.rpartition("/")[2].startswith("test_"):
        tree = parsed(text)
        yield 1, "text", "", ast.get_docstring(tree) or ""
        for node in functions(tree.body):
            if node.name.startswith("test_"):
                yield node.lineno, "test", node.name[5:], ast.get_docstring(node) or ""
    elif path.startswith("Tests/Vectors/") and path.endswith(".json"):
        for member in texts_of_vector(json.loads(text)):
            yield 1, "vector", member, ""


def in_identifier(name, prefixes):
    """The rules in a Python name, wire_4_and_9_more, each with whether it stands in front."""
    end = 0
    for match in re.finditer(rf"(?:^|_)({'|'.join(prefixes)})_?(\d+)((?:_and_\d+)*)(?=_|$)", name, re.IGNORECASE):
        is_front, end = match.start() == end, match.end()
        for number in [match[2], *re.findall(r"\d+", match[3])]:
            for rule in numbered(match[1].upper(), number):
                yield rule, is_front
        end = match.end() if is_front else -1


def tests_in(texts, rules):
    """All tests. The names of Python have rules only of these groups."""
    prefixes = sorted({re.match("[A-Z]+", rule)[0] for rule in rules}, key=len, reverse=True) or ["(?!)"]
    for path, text in texts.items():
        for line, kind, name, documentation in names_in(path, text):
            if path.endswith(".py"):
                named = list(in_identifier(name, prefixes))
                front = [rule for rule, is_front in named if is_front]
                all_rules = dict.fromkeys([rule for rule, _ in named] + rules_in(documentation))
            else:
                match = FRONT.match(name)
                front = rules_in(match[0]) if match else []
                all_rules = rules_in(f"{name}\n{documentation}")
            yield Test(path, line, kind, name, front, list(all_rules))
