"""The levels of tests, the owner of each rule, and the laws about them. scripts/check rules checks the laws:

1. Each rule is owned at the pure or simulated level, or Tests/levels.toml says why that cannot be.
2. The built program is tested with each request, event, close code and promise.
3. The tests that judge in scripts/plant-faults exist.

The owner of a rule is the test to read first. Its name begins with the rule, its level is the lowest of these tests,
and its file has the most of them. A test in Swift comes before one in JavaScript, a test before a suite or a vector,
and a test that names few rules before others.
"""

import ast
import collections
import re
import tomllib

from rules.reading import in_swift, parsed

TABLE = "Tests/levels.toml"
LEVELS = ("pure", "simulated", "loopback", "program", "browser")
LOW, BUILT = LEVELS[:2], LEVELS[3:]

# The requests, the events and the close codes: the file, the enum in it, what a case has, and how a test shows it.
ENUMS = (
    ("request", "Sources/letters/SignalingProtocol/Messages/ClientMessage.swift", "ClientMessage", r"case (\w+)",
     'sends the request {0}: let one in Tests/BlackBoxTests call request("{0}")'),
    ("event", "Sources/letters/SignalingProtocol/Messages/ServerMessage.swift", "ServerMessage", r"case (\w+)",
     'requires the event {0}: let one in Tests/BlackBoxTests call expect("{0}"), or compare event["ev"] by =='),
    ("close code", "Sources/letters/SignalingProtocol/Errors/CloseReason.swift", "CloseReason", r"case \w+ = (\d+)",
     "requires the close code {0}: let one in Tests/BlackBoxTests compare (await client.closed())[0] by =="))
# Functions of the black-box tests that take the name of a request, or of events.
SENDING, AWAITING = {"request", "refused"}, {"expect", "next_of", "seen"}
MEMBER = re.compile(r'"(op|ev)": ?"(\w+)"')

PLANTING = "scripts/plant-faults"
SUITE = re.compile(r"\b(?:struct|class|enum) (\w+)")


class Levels:
    """The table of Tests/levels.toml: paths of tests with their levels, and rules with reasons."""

    def __init__(self, texts):
        table = tomllib.loads(texts.get(TABLE, ""))
        self.reasons = table.get("reasons", {})
        self.paths = {path: level for level in LEVELS for path in table.get("levels", {}).get(level, ())}
        self.unknown = [level for level in table.get("levels", {}) if level not in LEVELS]

    def of(self, path):
        """The level of the longest path in the table that contains this one."""
        while path:
            if path in self.paths:
                return self.paths[path]
            path = path.rpartition("/")[0]
        return None

    def faults(self, texts, tests):
        for level in self.unknown:
            yield f"{TABLE}: {level} is no level; the levels are {', '.join(LEVELS)}"
        for path in self.paths:
            if not any(name == path or name.startswith(f"{path}/") for name in texts):
                yield f"{TABLE}: there is no {path}"
        for path in sorted({test.path for test in tests if self.of(test.path) is None}):
            yield f"{path}: it has tests, and {TABLE} does not say their level"


def owner(rule, tests, levels):
    """The test that owns a rule, if the name of one begins with it."""
    own = [test for test in tests if rule in test.front and levels.of(test.path)]
    counts = collections.Counter(test.path for test in own if test.kind == "test")
    return min(own, default=None, key=lambda test: (
        LEVELS.index(levels.of(test.path)), test.kind != "test", not in_swift(test.path), -counts[test.path],
        len(test.front), test.path, test.line))


def ownership_faults(rules, tests, levels):
    """The first law."""
    for rule, document in rules.items():
        if not (found := owner(rule, tests, levels)):
            yield f"{document}: {rule} has no owner: let the name of a test begin with it"
        elif levels.of(found.path) in LOW and rule in levels.reasons:
            yield f"{TABLE}: delete the reason of {rule}, which {found.where} owns at the {levels.of(found.path)} level"
        elif levels.of(found.path) not in LOW and rule not in levels.reasons:
            yield (
                f"{document}: the owner of {rule} is {found.where}, at the {levels.of(found.path)} level: let the name "
                f"of a pure or simulated test begin with {rule}, or say in {TABLE} why that cannot be")
    for rule, reason in levels.reasons.items():
        if rule not in rules:
            yield f"{TABLE}: it has a reason for {rule}, which no document defines"
        if not re.fullmatch(r"[A-Z].{20,}\.", str(reason)):
            yield f"{TABLE}: the reason of {rule} is no sentence"


def definitions(body):
    """The functions, methods, classes and values of a module, by their names, as far as other modules see them."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for name, member in definitions(node.body):
                yield (node.name if name.startswith("__") else name), member
        elif isinstance(node, ast.Assign):
            yield from ((target.id, node) for target in node.targets if isinstance(target, ast.Name))


def words_in(nodes):
    return [node.value for node in nodes if type(node) is ast.Constant]


def shown(node, kind):
    """What a part of a test shows: pairs of "request", "event" or "close code", and its name."""
    if kind is ast.Constant and type(node.value) in (str, bytes):
        text = node.value if type(node.value) is str else node.value.decode(errors="replace")
        return [("request" if member == "op" else "event", name) for member, name in MEMBER.findall(text)]
    if kind is ast.Dict:
        pairs = [(key.value, value) for key, value in zip(node.keys, node.values) if type(key) is ast.Constant]
        return [
            ("request" if member == "op" else "event", word)
            for member, value in pairs if member in ("op", "ev") for word in words_in(ast.walk(value))]
    if kind is ast.Call:
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        if name in SENDING or name in AWAITING:
            return [("request" if name in SENDING else "event", word) for word in words_in(node.args)]
    if kind is ast.Compare and all(type(each) is ast.Eq for each in node.ops):
        parts = list(ast.walk(node))
        words, names = words_in(parts), [getattr(part, "attr", getattr(part, "id", "")) for part in parts]
        kinds = ["event"] if "ev" in words else []
        if any("clos" in name or "code" in name for name in names):
            kinds.append("close code")
        return [(kind, str(word)) for kind in kinds for word in words]
    return ()


def shown_by_program(texts, levels):
    """What the tests of the built program show. A function of a helper counts if a test uses its name, or a helper that
    counts."""
    waiting, helpers, found = [], collections.defaultdict(list), set()
    for path, text in texts.items():
        if path.endswith(".py") and levels.of(path) in BUILT:
            if path.rpartition("/")[2].startswith("test_"):
                waiting.append(parsed(text))
            else:
                for name, node in definitions(parsed(text).body):
                    helpers[name].append(node)
    names = {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg"}
    while waiting:
        for node in ast.walk(waiting.pop()):
            kind = type(node)
            if kind in names:
                waiting += helpers.pop(getattr(node, names[kind]), ())
            else:
                found.update(shown(node, kind))
    return found


def program_faults(texts, rules, tests, levels):
    """The second law."""
    found = shown_by_program(texts, levels)
    for kind, path, name, pattern, how in ENUMS:
        block = re.search(rf"enum {name}\b[^\n]*\{{\n(.*?)^\}}", texts.get(path, ""), re.MULTILINE | re.DOTALL)
        cases = re.findall(rf"^    (?:indirect )?{pattern}", block[1], re.MULTILINE) if block else []
        if not cases:
            yield f"{path}: no {kind} found in an enum {name}"
        for each in cases:
            if (kind, each) not in found:
                yield f"{path}: no test of the built program {how.format(each)}"
    named = {rule for test in tests if test.kind == "test" and levels.of(test.path) in BUILT for rule in test.rules}
    for rule, document in rules.items():
        if "-" not in rule and rule not in named:
            yield f"{document}: no test of the built program has {rule} in its name or docstring"


def values_of(text, *names):
    """The values of a Python script's constants."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and node.targets[0].id in names:
            yield node.targets[0].id, ast.literal_eval(node.value)


def alternatives(pattern):
    """Each way in which a pattern such as A|B(C|D) can match."""
    if group := re.search(r"\(([^()]*)\)", pattern):
        ways = (pattern[:group.start()] + way + pattern[group.end():] for way in group[1].split("|"))
        return list(dict.fromkeys(each for way in ways for each in alternatives(way)))
    return pattern.split("|")


def judge_faults(texts, tests):
    """The third law."""
    values = dict(values_of(texts.get(PLANTING, ""), "BLACK_BOX", "TESTS", "SIMULATION"))
    for name in ("BLACK_BOX", "TESTS", "SIMULATION"):
        if not values.get(name):
            yield f"{PLANTING}: {name} names no tests"
    names, suites = collections.defaultdict(set), set()
    for test in tests:
        names[test.path].add(test.name)
    for entry in values.get("BLACK_BOX", ()):
        file, _, test = entry.partition("::")
        path = f"Tests/BlackBoxTests/{file}"
        if path not in names:
            yield f"{PLANTING}: BLACK_BOX names {entry}, but there is no {path} with tests"
        elif test and test.partition("[")[0].removeprefix("test_") not in names[path]:
            yield f"{PLANTING}: BLACK_BOX names {entry}, but {path} has no such test"
    for path in filter(in_swift, names):
        suites.update(f"{path.split('/')[1]}.{name}" for name in SUITE.findall(texts[path]))
    for constant in ("TESTS", "SIMULATION"):
        for entry in alternatives(values.get(constant, "")):
            if not any(re.search(entry, suite) for suite in suites):
                yield f"{PLANTING}: {constant} names {entry}, but there is no such target or suite"
