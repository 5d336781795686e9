"""The planted faults of scripts/check rules --self-test: a repository without a fault, and what is changed in it."""

SPECIFICATION = """
| G1 | One order. |
| G2 | An acknowledgement. |
| M1 | A ban. |

## 1. One

## 2. Two words

UTF-8 is no rule.

* **SIG-1** One.
* **SIG-2** Two.
* **SIG-3** Three.
* **SIG-4** Four.
* **SIG-5** Five.
* **WIRE-1** One.
* **WIRE-2** Two.
"""
SOURCE = """
// PROTOCOL.md, section 2; docs/PROTOCOL.md, sections 1 and 2; PROTOCOL.md, "Two words"; SIG-2 to SIG-4
"""
REQUESTS = """
public enum ClientMessage: Equatable {
    indirect case connect(RequestID)
    case signal
    /// A pong.
    case pong

    func a() {
        case inside
    }
}

extension ClientMessage {
    case outside
}
"""
EVENTS = """
public enum ServerMessage {
    case connected(Welcome)
    case ack
    case erased
    case ping
}
"""
CLOSE_CODES = """
public enum CloseReason: UInt16 {
    case normal = 1000
    case tooManyErrors = 4503
}
"""
TABLE = """
[levels]
pure = ["Tests/ATests", "Tests/Vectors", "web-test-client/test"]
loopback = ["Tests/ATests/Loops"]
program = ["Tests/BlackBoxTests"]
browser = ["Tests/BrowserTests"]

[reasons]
LOG-20 = "It is about what a database writes."
WIRE-1 = "It is about what a browser sends."
WIRE-2 = "It is about what a browser sends."
"""
SUITE = """
@Suite("SIG-1: a suite")
struct A {
    @Test(
        "G1, G2 and LOG-1, M1, SIG-2: SHA-1 and G711")
}
"""
LOOPS = """
@Suite
final class Loops {
    @Test("LOG-20: a disk")
    func disk() {}
}
"""
CLIENT = """
class Client:
    def __init__(self):
        self.send('{"op":"pong"}')

    async def leave(self):
        await self.request("connect")
        assert await self.closed() == (1000, [])

    async def unused(self):
        await self.request("moderate")
"""
TESTS_OF_THE_PROGRAM = '''
"""SIG-4."""


async def test_g_1_m_1_a_thing(client):
    """G2"""
    await Client().leave()
    await client.send({"op": "signal", "id": 1})
    await client.expect("connected", seq=1)
    assert (event["ev"], event["id"]) == ("ack", 1)
    assert events == [{"ev": "erased"}]
    await seen(client, "ping")
    assert (await client.closed())[0] == 4503
'''
TESTS_OF_THE_PAGE = """
def test_wire_1_and_2_things():
    pass


def test_rfc_6455_5_1():
    pass
"""
TESTS_OF_THE_LIBRARY = """
test('SIG-4 a thing', () => {});
/** SIG-1 */
test(`SIG-5 ${many}`, () => {});
"""
JUDGES = r"""
BLACK_BOX = (
    "test_a.py",
    "test_a.py::test_g_1_m_1_a"
    "_thing",
)
TESTS = r"ATests|ATests\.(A|Loop\w+)|Loops"
SIMULATION = "ATests"
"""

PROTOCOL, LOG, LEVELS = "docs/PROTOCOL.md", "docs/COMMAND-LOG.md", "Tests/levels.toml"
SWIFT, PYTHON, BROWSER = "Tests/ATests/A.swift", "Tests/BlackBoxTests/test_a.py", "Tests/BrowserTests/test_b.py"
SCRIPT, VECTOR, PLANTING = "web-test-client/test/a.test.js", "Tests/Vectors/a.json", "scripts/plant-faults"
MESSAGES = "Sources/letters/SignalingProtocol/Messages/"
CLIENT_MESSAGE, CLOSE_REASON = MESSAGES + "ClientMessage.swift", "Sources/letters/SignalingProtocol/Errors/CloseReason.swift"

CLEAN = {
    PROTOCOL: SPECIFICATION,
    LOG: "* **LOG-1** One.\n\n## SQLite\n\n* **LOG-20** Two.\n",
    "Sources/A.swift": SOURCE,
    CLIENT_MESSAGE: REQUESTS,
    MESSAGES + "ServerMessage.swift": EVENTS,
    CLOSE_REASON: CLOSE_CODES,
    LEVELS: TABLE,
    SWIFT: SUITE,
    "Tests/ATests/Loops/B.swift": LOOPS,
    "Tests/BlackBoxTests/client.py": CLIENT,
    PYTHON: TESTS_OF_THE_PROGRAM,
    BROWSER: TESTS_OF_THE_PAGE,
    VECTOR: '{"name": "one", "cases": [{"rule": "SIG-3", "data": "SIG-4"}]}\n',
    SCRIPT: TESTS_OF_THE_LIBRARY,
    "web-test-client/dist/a.js": "// SIG-99\n",
    PLANTING: JUDGES,
}


def changed(path, text, other=""):
    """The change of a text in a file of CLEAN."""
    assert text in CLEAN[path], text
    return {path: CLEAN[path].replace(text, other)}


def added(path, text):
    return {path: CLEAN[path] + text}


# A name, the changed files (None removes one), and a part of the expected report, if there is one.
CASES = [
    ("nothing", {}, None),
    ("a rule without a test", added(PROTOCOL, "* **WIRE-3** Three.\n"), "WIRE-3 has no owner"),
    ("a rule of the log without a test", added(LOG, "* **LOG-21** Three.\n"), "LOG-21 has no owner"),
    ("a promise without a test", changed(PROTOCOL, "| G2 |", "| G2 | |\n| G3 |"), "G3 has no owner"),
    ("a gap in the numbers", changed(PROTOCOL, "SIG-5", "SIG-6"), "SIG-6 follows SIG 4"),
    ("a gap within a group", added(LOG, "* **LOG-30** Three.\n"), "LOG-30 follows LOG 20"),
    ("a path of SVG", {"web-test-client/a.svg": '<path d="M9 24V8"/>'}, None),
    ("a number twice", changed(PROTOCOL, "SIG-5", "SIG-4"), "SIG-4 follows SIG 4"),
    ("no rules at all", {**dict.fromkeys(CLEAN, ""), VECTOR: "{}"}, "no numbered rules"),
    ("a rule in a stray comment", changed(BROWSER, "wire_1_and_2_things():", "a():  # WIRE-1"), "WIRE-1 has no owner"),
    ("a rule in a docstring", changed(BROWSER, "wire_1_and_2_things():", 'a():\n    "WIRE-1"'), "WIRE-1 has no owner"),
    ("a rule in an assertion", {SWIFT: '@Test("G1")\nfunc a() { #expect(true, "SIG-1") }\n'}, "SIG-1 has no owner"),
    ("a rule in a comment of Swift", {SWIFT: '// SIG-1\n@Test("G1")\nfunc a() {}\n'}, "SIG-1 has no owner"),
    ("a rule in documentation of Swift", {SWIFT: '/// SIG-1\n@Test("G1")\nfunc a() {}\n'}, "SIG-1 has no owner"),
    ("a rule at the end of a name", {SWIFT: '@Test("G1: (SIG-1)")\nfunc a() {}\n'}, "SIG-1 has no owner"),
    ("a rule in a comment of JavaScript", changed(SCRIPT, "SIG-5", "// SIG-5\n"), "SIG-5 has no owner"),
    ("a rule in a vector's data", {VECTOR: '{"cases": [{"data": "SIG-3"}]}\n'}, "SIG-3 has no owner"),
    *[(f"an unknown rule in {path}", {path: text}, f"cites {rule}, which no document defines") for path, text, rule in (
        ("Tests/ATests/B.swift", "/// SIG-6 and more.\n@Test func b() {}\n", "SIG-6"),
        ("Tests/BlackBoxTests/test_b.py", "def test_wire_1_and_4_b():\n    pass\n", "WIRE-4"),
        ("Tests/BlackBoxTests/test_c.py", "def test_g1_g9_b():\n    pass\n", "G9"),
        ("Tests/Vectors/b.json", '{"data": "b (WIRE-3)"}\n', "WIRE-3"),
        ("web-test-client/opentok/b.js", "// SIG-7\n", "SIG-7"),
        ("docs/decisions/001-a.md", "See LOG-20 to LOG-22.\n", "LOG-21"),
        ("scripts/b", "# SECRET-1: another prefix\n", "SECRET-1"),
        ("README.md", "SIG-4…SIG-6\n", "SIG-6"))],
    ("an unknown document", {"Sources/B.swift": "// See design.md.\n"}, "design.md, which does not exist"),
    ("an unknown script", {"README.md": "Run `scripts/gone all`.\n"}, "scripts/gone, which does not exist"),
    ("an unknown part", {"docs/a.md": "See ../scripts/b/c.mjs.", "scripts/b/d.mjs": ""}, "scripts/b/c.mjs, which"),
    ("scripts", {"README.md": "`scripts/b`, scripts/b/c.py.", "scripts/b/c.py": "# a/scripts/d scripts/d.json\n"}, None),
    ("an unknown section", {"Sources/B.swift": "// PROTOCOL.md, sections 2 and 3\n"}, "a section that does not exist"),
    ("an unknown heading", {"Sources/B.swift": '// PROTOCOL.md, "Three words"\n'}, "a section that does not exist"),
    *[(f"a section in the name {name}", {path: text}, "begins with a number of") for name, path, text in (
        ("of Swift", "Tests/ATests/B.swift", '@Test("OPENTOK 2.5: a thing")\nfunc b() {}\n'),
        ("of Python", "Tests/BlackBoxTests/test_b.py", "def test_opentok_4_6_a_thing():\n    pass\n"),
        ("of JavaScript", "web-test-client/test/b.test.js", "test('opentok_9_camera: a thing', () => {});\n"))],

    # The levels and the owners.
    ("tests without a level", {"Tests/B/A.swift": '@Test("a")\nfunc a() {}\n'}, "Tests/B/A.swift: it has tests"),
    ("a level of no tests", changed(LEVELS, "ATests/Loops", "ATests/Loop"), "there is no Tests/ATests/Loop"),
    ("an unknown level", changed(LEVELS, "pure", "purer"), "purer is no level"),
    ("a rule that only the program shows", changed(SWIFT, ", SIG-2") | changed(PYTHON, "test_g_1", "test_sig_2_g_1"),
     "the owner of SIG-2 is Tests/BlackBoxTests/test_a.py:5, at the program level"),
    ("a rule that only a socket shows", changed(LEVELS, "LOG-20 =", "SIG-5 ="),
     "the owner of LOG-20 is Tests/ATests/Loops/B.swift:4, at the loopback level"),
    ("a reason for an owned rule", changed(LEVELS, "LOG-20 =", "SIG-5 ="), "delete the reason of SIG-5"),
    ("a reason for a rule that does not exist", changed(LEVELS, "LOG-20", "LOG-22"), "a reason for LOG-22, which no"),
    ("a reason that is no sentence", changed(LEVELS, "It is about what a database writes.", "SQLite"), "LOG-20 is no"),

    # The built program.
    *[(f"no {name}", changed(PYTHON, text, other), expected) for name, text, other, expected in (
        ("request that a test sends", '"op": "signal"', '"ev": "signal"', "sends the request signal"),
        ("request of a helper", ".leave()", ".unused()", "sends the request connect"),
        ("request of a class", "Client().leave()", "client.leave()", "sends the request pong"),
        ("awaited event", '.expect("connected"', '.send("connected"', "requires the event connected"),
        ("awaited event by a function", "seen(", "written(", "requires the event ping"),
        ("compared event", '"ack", 1)', '"nack", 1)', "requires the event ack"),
        ("strictly compared event", "== (", "in (", "requires the event ack"),
        ("compared whole event", "erased", "error", "requires the event erased"),
        ("close code of a test", "== 4503", "== 4505", "requires the close code 4503"),
        ("close code of a socket", "(await client.closed())[0]", "len(events)", "requires the close code 4503"),
        ("close code of a helper", ".leave()", ".unused()", "requires the close code 1000"),
        ("promise in a name", "g_1", "a", "has G1 in its name"),
        ("promise in a docstring", "G2", "a", "has G2 in its name"),
        ("promise of another group", "m_1_", "", "has M1 in its name"))],
    ("a new request", changed(CLIENT_MESSAGE, "case pong", "case moderate"),
     "ClientMessage.swift: no test of the built program sends the request moderate"),
    ("no requests", {CLIENT_MESSAGE: None}, "no request found in an enum"),
    ("other close codes", changed(CLOSE_REASON, " = "), "no close code found"),

    # The judges of planted faults.
    *[(f"a judge that is no {name}", changed(PLANTING, text, other), expected) for name, text, other, expected in (
        ("file", '"test_a.py",', '"test_z.py",', "no Tests/BlackBoxTests/test_z.py with tests"),
        ("test", '"_thing"', '"_think"', "names test_a.py::test_g_1_m_1_a_think, but"),
        ("target", '"ATests|', '"BTests|', "TESTS names BTests, but"),
        ("suite", "|Loops", "|Loop$", "TESTS names Loop$, but"),
        ("suite of its target", "(A|", "(B|", r"TESTS names ATests\.B, but"),
        ("simulation", 'SIMULATION = "A', 'SIMULATION = "B', "SIMULATION names BTests"))],
    ("no judges", {PLANTING: ""}, "BLACK_BOX names no tests"),
]
