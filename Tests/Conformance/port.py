#!/usr/bin/env python3
"""Ports an installed autobahntestsuite 25.10.1 (Python 2 code) and autobahn 0.10.9 to Python 3, as far as
`wstest -m fuzzingclient` with its JSON reports needs. Run it once, with the interpreter of the environment that has
both. It needs Python 3.9 to 3.12 (lib2to3).

The verdicts stay the suite's own:

1. lib2to3 translates the syntax (print, except, raise, has_key, xrange, unichr, relative imports).
2. The byte strings of Python 2 become str of code points 0 to 255. The case files are declared latin-1, and cases meet
   the protocol in one place (FuzzingProtocol), which turns str to bytes on the way out and bytes to str on the way in.
   So payloads, expectations and their comparison stay as they are.
3. The edits in EDITS, each of which must match exactly as often as it says.
"""
import pathlib
import re
import shutil
import sys
from importlib.util import find_spec
from lib2to3 import refactor

FIXERS = ["print", "except", "raise", "has_key", "xrange", "unicode", "import", "ne", "numliterals"]
FIXERS = ["lib2to3.fixes.fix_" + name for name in FIXERS]
# Not needed for the fuzzing client; some of it imports what autobahn 0.10.9 lacks on Python 3.
DROPPED = [
    "broadcast.py", "echo.py", "massconnect.py", "serializer.py", "testee.py", "testdb.py", "testrun.py",
    "interfaces.py", "rinterfaces.py", "wampcase", "wampfuzzing.py", "wamptestee.py", "wamptestserver.py",
    "wsperfcontrol.py", "wsperfmaster.py", "util.py", "report.py", "case/case9_9_1.py",
]

HELPERS = '''
def _text(octets):
   """Python 2's byte string, as str of code points 0 to 255."""
   return octets.decode('latin-1') if isinstance(octets, (bytes, bytearray)) else octets

def _octets(text):
   return text.encode('latin-1') if isinstance(text, str) else text

def _hex(data):
   return binascii.b2a_hex(_octets(data)).decode('ascii')

'''

BOUNDARY = '''
   ## Where the cases (str) and the protocol (bytes) meet.
   def sendFrame(self, opcode, payload = '', *args, **named):
      return super().sendFrame(opcode, _octets(payload), *args, **named)

   def sendMessage(self, payload, *args, **named):
      return super().sendMessage(_octets(payload), *args, **named)

   def sendMessageFrameData(self, payload, sync = False):
      return super().sendMessageFrameData(_octets(payload), sync)

   def sendCloseFrame(self, code = None, reasonUtf8 = None, isReply = False):
      return super().sendCloseFrame(code, _octets(reasonUtf8), isReply)

   def sendPing(self, payload = None):
      return super().sendPing(_octets(payload))

   def sendPong(self, payload = None):
      return super().sendPong(_octets(payload))

'''

# file: [(old, new, how often)], applied after lib2to3.
EDITS = {
    "__init__.py": [
        ("from . import echo\n", "", 1),
        ("from . import broadcast\n", "", 1),
        ("from . import testee\n", "", 1),
        ("from . import massconnect\n", "", 1),
        ("from . import wstest\n", "import txaio\ntxaio.use_twisted()\n", 1),
        ("from . import report\n", "", 1),
    ],
    "wstest.py": [
        ("from . import testee\n", "", 1),
        ("from . import echo\n", "", 1),
        ("from . import broadcast\n", "", 1),
        ("from . import massconnect\n", "", 1),
        ("from . import serializer\n", "", 1),
    ],
    "fuzzing.py": [
        ("binascii.b2a_hex(", "_hex(", 5),
        ("def binLogData(data, maxlen = 64):", HELPERS + "def binLogData(data, maxlen = 64):", 1),
        # `dd.decode('utf8', ...)` of what was a byte string.
        ("return dd.decode('utf8', errors = 'replace' if replace else 'strict')",
         "return _octets(dd).decode('utf8', errors = 'replace' if replace else 'strict')", 1),
        ("dd = data[:maxlen] + ellipses\n      else:\n         dd = data\n      return",
         "dd = _text(data[:maxlen]) + ellipses\n      else:\n         dd = data\n      return", 1),
        ("p = ''.join(payload)", "p = b''.join(payload)", 1),
        # A mixin before the protocol class: its methods are found first, `super()` is autobahn's.
        ("   def executeContinueLater(self, fun, tag):", BOUNDARY + "   def executeContinueLater(self, fun, tag):", 1),
        ("         self.runCase.onPong(payload)", "         self.runCase.onPong(_text(payload))", 1),
        ("         self.runCase.onMessage(msg, binary)", "         self.runCase.onMessage(_text(msg), binary)", 1),
        ("""from .report import CSS_COMMON, \\
                   CSS_DETAIL_REPORT, \\
                   CSS_MASTER_REPORT, \\
                   JS_MASTER_REPORT
""", "", 1),
        # Only ws://: no OpenSSL for Python is needed.
        ("from twisted.internet import reactor, ssl\n", "from twisted.internet import reactor\n", 1),
        ("self.contextFactory = ssl.ClientContextFactory()", "self.contextFactory = None", 1),
        # Only JSON; the HTML writer is Python 2 through and through.
        ("def createReports(self, produceHtml = True,", "def createReports(self, produceHtml = False,", 1),
        # What is in a report may be bytes (a close reason).
        ("json.dumps(case, ", "json.dumps(case, default = _text, ", 1),
    ],
    "caseset.py": [],
    "case/__init__.py": [("from .case9_9_1 import *\n", "", 1)],
    "case/case.py": [
        # The pickles of equal values differ on Python 3 where one list holds the same object twice.
        ("return pickle.dumps(obj1) == pickle.dumps(obj2)", "return obj1 == obj2", 1),
        ("import pickle", """import pickle


class _Binascii:
   \"\"\"binascii for str of code points 0 to 255.\"\"\"
   @staticmethod
   def b2a_hex(text):
      return (text.encode('latin-1') if isinstance(text, str) else text).hex()
   hexlify = b2a_hex


binascii = _Binascii""", 1),
    ],
    "case/case6_x_x.py": [
        ("v.validate(vss[:i])", "v.validate(vss[:i].encode('latin-1'))", 1),
        (".tostring()", ".tobytes()", 6),
        ("(object, Case, )", "(Case, )", 1),
    ],
    "case/case7_7_X.py": [("(object, Case, )", "(Case, )", 1)],
    "case/case7_9_X.py": [("(object, Case, )", "(Case, )", 1)],
    "case/case9_7_X.py": [("(object, Case, )", "(Case, )", 1)],
    "case/case12_x_x.py": [
        ("(object, Case, )", "(Case, )", 2),
        ("   m = hashlib.sha1()\n   m.update(msg)\n   received_hash",
         "   msg = msg.encode('latin-1')\n   m = hashlib.sha1()\n   m.update(msg)\n   received_hash", 1),
    ],
    "case/case10_1_1.py": [
        ("len(self.payload) / self.p.autoFragmentSize", "len(self.payload) // self.p.autoFragmentSize", 1),
    ],
}

AUTOBAHN_EDITS = {
    "websocket/protocol.py": [
        ("range(payload_len / len(payload))", "range(payload_len // len(payload))", 1),
    ],
}


def edit(folder, edits):
    for name, changes in edits.items():
        path = folder / name
        text = path.read_text("latin-1" if name.startswith("case/") else "utf-8")
        for old, new, count in changes:
            found = text.count(old)
            if found != count:
                sys.exit(f"{path}: {found} times, not {count}: {old!r}")
            text = text.replace(old, new)
        path.write_text(text, "latin-1" if name.startswith("case/") else "utf-8")


def main():
    suite = pathlib.Path(find_spec("autobahntestsuite").submodule_search_locations[0])
    autobahn = pathlib.Path(find_spec("autobahn").submodule_search_locations[0])
    if (suite / "PORTED").exists():
        sys.exit("ported already")
    for name in DROPPED:
        path = suite / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    tool = refactor.RefactoringTool(FIXERS)
    for path in sorted(suite.rglob("*.py")):
        is_case = path.parent.name == "case"
        # Read as latin-1, the literals of a case file are the bytes that Python 2 saw.
        encoding = "latin-1" if is_case else "utf-8"
        text = path.read_text(encoding)
        text = re.sub(r"^#.*coding[:=].*$", "#", text, count=1, flags=re.M)
        # Old divisions and comparisons are edited by hand below; the rest is mechanical.
        text = str(tool.refactor_string(text if text.endswith("\n") else text + "\n", str(path)))
        if path.parent == suite:
            text = re.sub(r"^(\s*)from (case|caseset|report|spectemplate|_version) import", r"\1from .\2 import", text, flags=re.M)
            text = re.sub(r"^import (choosereactor|wstest|echo|broadcast|testee|case|caseset|report|spectemplate|fuzzing|massconnect|serializer)\b(.*)$",
                          r"from . import \1\2", text, flags=re.M)
        if is_case:
            text = re.sub(r"^(\s*)from (case\w*) import", r"\1from .\2 import", text, flags=re.M)
            if path.name != "case.py":
                text = re.sub(r"^import binascii$", "from .case import binascii", text, flags=re.M)
                text = re.sub(r"^(import .*), binascii$", r"\1\nfrom .case import binascii", text, flags=re.M)
            text = "# -*- coding: latin-1 -*-\n" + text
        path.write_text(text, encoding)
    edit(suite, EDITS)
    edit(autobahn, AUTOBAHN_EDITS)
    (suite / "PORTED").write_text("")


main()
