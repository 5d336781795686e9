"""`signalbox history` against a server that is the test (HIS-10)."""

import contextlib
import http.server
import json
import os
import threading
import urllib.parse

import pytest

from credentials import Project
from server_process import REPOSITORY, environment, run

PROJECT = Project("100", "a secret of the history tests")
ADA = {"connectionId": "ada-id", "creationTime": 1700000000000, "data": "Ada"}
MINUTE = 60_000


def message(seq, text="hello", **members):
    return {
        "seq": seq, "from": "ada-id", "connection": ADA, "type": "TextChat", "data": text,
        "time": 1700000000000 + seq * MINUTE,
    } | members


class Archive:
    """The kept messages, and the requests for them. `answer` replaces all pages."""

    def __init__(self, messages=(), answer=None):
        self.messages, self.answer = list(messages), answer
        self.requests = []

    def respond(self, path, query, headers):
        if path.startswith("/room/"):
            return 200, {"apiKey": PROJECT.key, "sessionId": self.session, "token": "T1=="}
        self.requests.append((path, query, headers))
        if self.answer:
            return self.answer
        before, after = query.get("before"), query.get("after")
        limit = int(query.get("limit", 50))
        if after is not None:
            found = [each for each in self.messages if each["seq"] > int(after)]
            page, more = found[:limit], len(found) > limit
        else:
            found = [each for each in self.messages if before is None or each["seq"] < int(before)]
            page, more = found[-limit:], len(found) > limit
        seqs = [each["seq"] for each in self.messages]
        return 200, ({"first": seqs[0], "last": seqs[-1]} if seqs else {}) | {"more": more, "messages": page}

    @contextlib.contextmanager
    def server(self):
        archive = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query))
                status, body = archive.respond(urllib.parse.unquote(url.path), query, self.headers)
                body = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()
            thread.join()

    def print(self, *arguments, session=None):
        """The result of the command for this session."""
        self.session = PROJECT.session()
        with self.server() as url:
            settings = {"server": url, "api_key": PROJECT.key, "api_secret": PROJECT.secret}
            return run("history", session or self.session, *arguments, env=environment(**settings) | {"TZ": "UTC"})


def test_history_prints_time_name_and_text_of_chat_messages_and_type_and_data_of_others():
    """HIS-10, CHG-8"""
    chat = json.dumps({"text": "in JSON", "sender": {"id": "x", "alias": "Bob"}, "sentOn": 1})
    result = Archive([
        message(1, "plain"),
        message(2, chat, type="text-chat"),
        message(3, "7", type="vote"),
        {"seq": 4, "from": None, "data": "no type", "time": 1700000000000 + 4 * MINUTE},
        {"seq": 5, "from": "ada-id", "connection": ADA, "erased": True, "time": 1700000000000 + 5 * MINUTE},
        message(6, "at ten", changed=9, edited=1700000900000),
        message(7, "8", type="vote", changed=10, edited=1700000900000),
        message(8, "9", reactions=[{"key": "👍", "count": 2}, {"key": "🎉", "count": 1}], reacted=11),
    ]).print()
    assert result.returncode == 0 and result.stderr == "", result
    assert result.stdout.splitlines() == [
        "2023-11-14 22:14:20 Ada: plain",
        "2023-11-14 22:15:20 Ada: in JSON",
        "2023-11-14 22:16:20 Ada [vote] 7",
        "2023-11-14 22:17:20 the server [signal] no type",
        "2023-11-14 22:18:20 Ada: (erased)",
        "2023-11-14 22:19:20 Ada: at ten (edited)",
        "2023-11-14 22:20:20 Ada [vote] 8 (edited)",
        "2023-11-14 22:21:20 Ada: 9 [👍 2 🎉 1]",
    ]


NAMES = [
    vector for vector in json.loads((REPOSITORY / "Tests/Vectors/senders/names.json").read_text())["cases"]
    if "here" not in vector
]


@pytest.mark.parametrize("arguments", [[], ["--all"]])
def test_chat_4_history_shows_the_name_of_the_token_and_no_alias_of_another(arguments):
    """HIS-10"""
    for vector in NAMES:
        result = Archive([kept(each) for each in vector["messages"]]).print(*arguments)
        names = [line.split(" ", 2)[2].removesuffix(": hi") for line in result.stdout.splitlines()]
        assert names == [name.replace("Server", "the server") for name in vector["shown"]], vector["name"]


def kept(vector):
    """A kept message of a vector."""
    sender = {name: vector[key] for name, key in (("id", "senderId"), ("alias", "alias")) if vector.get(key)}
    source = {} if vector["from"] is None else {
        "connection": {"connectionId": vector["from"], "creationTime": 1, "data": vector["data"]}
        | ({"user": vector["user"]} if "user" in vector else {})
    }
    return {
        "seq": vector["seq"], "from": vector["from"], "type": "text-chat",
        "data": json.dumps({"text": "hi", "sender": sender}), "time": 1700000000000 + vector["seq"],
    } | source


def test_history_asks_for_the_page_with_the_credentials_of_the_project():
    """HIS-10, REST-1"""
    for arguments, query in [
        ([], {}), (["--before", "812", "--limit", "20"], {"before": "812", "limit": "20"}), (["--after", "0"], {"after": "0"})
    ]:
        archive = Archive([message(1)])
        assert archive.print(*arguments).returncode == 0
        [(path, asked, headers)] = archive.requests
        assert path == f"/v2/project/100/session/{archive.session}/message"
        assert asked == query
        assert headers["X-OPENTOK-AUTH"].count(".") == 2


def test_history_of_a_room_of_development_mode():
    archive = Archive([message(1, "in the room")])
    result = archive.print(session="lobby")
    assert "Ada: in the room" in result.stdout, result
    assert archive.requests[0][0].endswith(f"/session/{archive.session}/message")


def test_history_says_how_to_read_on():
    messages = [message(seq) for seq in range(1, 5)]
    earlier = Archive(messages).print("--limit", "2")
    assert len(earlier.stdout.splitlines()) == 2
    assert "--before 3" in earlier.stderr and "--all" in earlier.stderr, earlier
    later = Archive(messages).print("--after", "1", "--limit", "1")
    assert "--after 2" in later.stderr, later
    empty = Archive().print()
    assert (empty.returncode, empty.stdout) == (0, "") and "no messages" in empty.stderr, empty


def test_history_prints_all_pages_in_order():
    """HIS-6"""
    messages = [message(seq) for seq in range(1, 451)]

    def seqs(*arguments):
        archive = Archive(messages)
        result = archive.print("--all", "--json", *arguments)
        assert result.returncode == 0 and result.stderr == "", result.stderr
        return [json.loads(line)["seq"] for line in result.stdout.splitlines()], len(archive.requests)

    assert seqs() == (list(range(1, 451)), 3)
    assert seqs("--after", "100", "--before", "150") == (list(range(101, 150)), 1)


def test_history_ends_when_a_server_says_more_and_sends_nothing_new():
    page = {"first": 1, "last": 9, "more": True, "messages": [message(1)]}
    archive = Archive(answer=(200, page))
    result = archive.print("--all", "--json")
    assert result.returncode == 0 and len(archive.requests) == 2, result


def test_history_as_json_has_each_message_as_the_server_sent_it():
    one = message(1, "a\u001b[2Jb", json=True, later={"member": [1]})
    result = Archive([one]).print("--json")
    assert json.loads(result.stdout) == one and "\x1b" not in result.stdout, result


def test_history_cannot_control_a_terminal():
    nasty = "x\x1b]0;title\x07\nforged"
    result = Archive([
        message(1, nasty), message(2, nasty, type="vote\x1b[2J"), message(3, connection=ADA | {"data": nasty}),
        message(4, time=2**63 - 1),
    ]).print()
    assert result.returncode == 0 and len(result.stdout.splitlines()) == 4, result
    assert "\x1b" not in result.stdout and "\x07" not in result.stdout, ascii(result.stdout)


def test_a_refused_history_ends_with_the_reason_in_one_line():
    for status, code, words in [
        (404, 1, "keeps no history"), (403, os.EX_NOPERM, "may not"), (400, os.EX_USAGE, "the limit"),
    ]:
        result = Archive(answer=(status, {"code": status, "message": words})).print()
        assert (result.returncode, result.stdout) == (code, ""), result
        assert words in result.stderr and len(result.stderr.strip().splitlines()) == 1, result
    for body in [[], {"messages": 1}, {"more": False, "messages": [{"seq": 1}]}, {}]:
        result = Archive(answer=(200, body)).print()
        assert result.returncode == 1 and "does not answer like a Signalbox server" in result.stderr, result


def test_history_refuses_options_that_make_no_sense():
    for arguments in [
        ["--limit", "0"], ["--limit", "201"], ["--before", "1", "--after", "2"], ["--all", "--limit", "3"],
    ]:
        archive = Archive([message(1)])
        result = archive.print(*arguments)
        assert result.returncode == os.EX_USAGE and archive.requests == [], result


def test_history_needs_credentials():
    result = run("history", PROJECT.session(), server="http://127.0.0.1:1")
    assert result.returncode == os.EX_USAGE and "credentials" in result.stderr, result
