"""The test page and the browser library, as the server serves them."""

import gzip
import json
import os
import re

import pytest

from raw_socket import RawSocket
from server_process import REPOSITORY, WEB_ROOT, Server, run

ADDRESSES = json.loads((REPOSITORY / "Tests/Vectors/scripts/addresses.json").read_text())["cases"]
LIBRARY = {case["path"]: case["bundle"] for case in ADDRESSES if "bundle" in case}
MISTAKEN = {case["path"]: case["use"] for case in ADDRESSES if "use" in case}


def test_the_page_is_served_with_a_strict_content_security_policy(server):
    answer = server.request("GET", "/")
    assert answer.status == 200
    assert answer.headers["Content-Type"].lower() == "text/html; charset=utf-8"
    assert answer.body == (WEB_ROOT / "dist/page.html").read_bytes()
    policy = answer.headers["Content-Security-Policy"]
    directives = {part.split()[0]: part.split()[1:] for part in policy.split(";") if part.strip()}
    assert directives["default-src"] in (["'none'"], ["'self'"]), policy
    assert "'unsafe-inline'" not in policy and "'unsafe-eval'" not in policy and "*" not in policy.split(), policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    elsewhere = server.request("GET", "/", headers={"Origin": "https://elsewhere.example"})
    assert elsewhere.headers["Access-Control-Allow-Origin"] is None


@pytest.mark.parametrize(
    "path, kind", [
        ("/main.js", "text/javascript"),
        ("/style.css", "text/css"),
        ("/favicon.svg", "image/svg+xml"),
    ]
)
def test_files_have_their_content_type_and_an_etag(server, path, kind):
    answer = server.request("GET", path)
    assert answer.status == 200, answer
    assert answer.headers["Content-Type"].split(";")[0] == kind
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.body == (WEB_ROOT / path[1:]).read_bytes()
    tag = answer.headers["ETag"]
    assert tag.startswith(('"', 'W/"'))
    for known in (tag, f'"other", {tag}', "*", "W/" + tag.removeprefix("W/")):
        again = server.request("GET", path, headers={"If-None-Match": known})
        assert (again.status, again.body) == (304, b""), known
        assert again.headers["ETag"] == tag
    assert server.request("GET", path, headers={"If-None-Match": '"other"'}).status == 200
    assert server.request("GET", path + "?v=1").body == answer.body


@pytest.mark.parametrize("path", LIBRARY)
def test_the_library_may_be_loaded_by_pages_of_every_origin(server, path):
    answer = server.request("GET", path, headers={"Origin": "https://elsewhere.example"})
    assert answer.status == 200, "the file is missing: run scripts/build web"
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert b"initSession" in answer.body
    assert answer.body == (WEB_ROOT / "dist" / LIBRARY[path]).read_bytes()


@pytest.mark.parametrize("path", ["/client/browser.js", "/opentok/index.js", "/text-chat/index.js", "/chat/index.js"])
def test_the_modules_of_the_library_may_be_loaded_by_pages_of_every_origin(server, path):
    answer = server.request("GET", path, headers={"Origin": "https://elsewhere.example"})
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, "*")


@pytest.mark.parametrize("name", ["chat", "launcher", "chat-emoji", "chat-emoji-ar", "chat-more", "chat-signals"])
def test_the_scripts_of_the_chat_and_its_parts_may_be_loaded_by_pages_of_every_origin(server, name):
    answer = server.request("GET", f"/signalbox-{name}.js", headers={"Origin": "https://elsewhere.example"})
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, "*")
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer.body == (WEB_ROOT / "dist" / f"signalbox-{name}.js").read_bytes()
    assert server.request("GET", "/signalbox-nothing.js").status == 404


def test_the_first_load_of_the_chat_has_100_kb():
    assert len(gzip.compress((WEB_ROOT / "dist/signalbox-chat.js").read_bytes(), 9)) <= 100_000


@pytest.mark.parametrize("path", LIBRARY)
def test_an_address_with_a_version_is_cached_as_the_current_file_is(server, path):
    """The server has one version of the library, which changes with the server."""
    answer = server.request("GET", path)
    assert answer.headers["Cache-Control"] == "public, max-age=300"
    current = server.request("GET", "/v2/js/" + LIBRARY[path])
    assert answer.headers["ETag"] == current.headers["ETag"]
    known = server.request("GET", path, headers={"If-None-Match": answer.headers["ETag"]})
    assert (known.status, known.body) == (304, b"")
    head = server.request("HEAD", path)
    assert (head.status, head.headers["ETag"], head.body) == (200, answer.headers["ETag"], b"")


def test_an_unknown_address_of_the_script_names_the_right_one(server):
    path = next(iter(MISTAKEN))
    answer = server.request("GET", path)
    assert answer.status == 404
    assert answer.headers["Cache-Control"] != "public, max-age=300"
    assert f"the browser library is at {MISTAKEN[path]}" in answer.json()["message"]
    assert server.request("GET", MISTAKEN[path]).status == 200
    assert server.request("POST", path).status == 404


def test_a_person_at_an_unknown_address_gets_a_page_and_a_program_gets_json(server):
    browser = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    for path in ("/lobby", "/index.htm", "/v2.6"):
        page = server.request("GET", path, headers=browser)
        assert page.status == 404
        assert page.headers["Content-Type"] == "text/html; charset=utf-8"
        assert page.headers["Vary"] == "Accept"
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        assert b"There is no page at this address" in page.body
        assert path.encode() not in page.body
        for accept in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
            answer = server.request("GET", path, headers=accept)
            assert (answer.status, answer.json()["code"]) == (404, 404)
            assert answer.headers["Vary"] == "Accept"
    # Developers open a wrong address of the script in a browser, too.
    path = next(iter(MISTAKEN))
    assert MISTAKEN[path] in server.request("GET", path, headers=browser).json()["message"]


COMPRESSED = ["/", "/v2/js/opentok.min.js", "/dist/opentok.js"]


@pytest.mark.parametrize("path, accepted", [*zip(COMPRESSED, ["gzip", "br, GZIP;q=0.5", "deflate, *"]), ("/", "x-gzip")])
def test_a_client_that_accepts_gzip_gets_the_compressed_file(server, path, accepted):
    plain = server.request("GET", path)
    assert plain.headers["Content-Encoding"] is None
    answer = server.request("GET", path, headers={"Accept-Encoding": accepted})
    assert (answer.status, answer.headers["Content-Encoding"]) == (200, "gzip")
    assert gzip.decompress(answer.body) == plain.body
    assert answer.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
    assert answer.headers["ETag"] != plain.headers["ETag"]
    known = {"Accept-Encoding": accepted, "If-None-Match": answer.headers["ETag"]}
    assert server.request("GET", path, headers=known).status == 304
    assert server.request("GET", path, headers={"If-None-Match": answer.headers["ETag"]}).status == 200


def test_a_client_that_refuses_gzip_gets_the_file_as_it_is(server):
    for refused in ("identity", "gzip;q=0", "br, gzip; q=0.000, *", "*;q=0", "gzipped", ",;,", ";q=1"):
        answer = server.request("GET", "/", headers={"Accept-Encoding": refused})
        assert (answer.status, answer.headers["Content-Encoding"]) == (200, None), refused
        assert answer.body == (WEB_ROOT / "dist/page.html").read_bytes()
    # This one is not compressed ahead.
    answer = server.request("GET", "/main.js", headers={"Accept-Encoding": "gzip"})
    assert (answer.headers["Content-Encoding"], answer.headers["Vary"]) == (None, None)
    assert answer.body == (WEB_ROOT / "main.js").read_bytes()
    assert server.request("GET", "/dist/page.html.gz").status == 404


def test_a_file_named_by_its_content_is_cached_for_good(server):
    names = [each.name for each in (WEB_ROOT / "dist").glob("page-*") if each.suffix != ".gz"]
    # The form, the room and the style, and eight languages; English is in the form.
    assert len(names) == 11
    in_the_page = [name for name in names if name in server.request("GET", "/").body.decode()]
    assert sorted(re.sub("-[^-]*$", "", name) for name in in_the_page) == ["page-form", "page-style"]
    for name in names:
        answer = server.request("GET", f"/dist/{name}")
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["Access-Control-Allow-Origin"] is None
    assert server.request("GET", "/").headers["Cache-Control"] == "no-cache"


def test_without_a_bundle_the_modules_are_the_page(copy_server):
    assert copy_server.request("GET", "/").body == b"CONTENT of index.html"


def test_without_a_bundle_the_server_says_how_to_make_one(tmp_path):
    (tmp_path / "index.html").write_text("a page")
    with Server(web_root=tmp_path) as server:
        answer = server.request("GET", "/webrtc/v2/js/TB.min.js")
    assert (answer.status, answer.json()["message"]) == (404, "the library is not bundled: run scripts/build web")


OUTSIDE = [
    "/../Package.swift", "/../../../../../../etc/passwd", "/%2e%2e/Package.swift", "/%2e%2e%2fPackage.swift",
    "/..%2fPackage.swift",
    "/opentok/../../Package.swift", "/opentok/..%2f..%2fPackage.swift", "//etc/passwd", "/%2fetc/passwd",
    "/..\\Package.swift",
    "/..%5cPackage.swift", "/%252e%252e/Package.swift", "/.%2e/Package.swift", "/\xc0\xae\xc0\xae/Package.swift",
    "/index.html%00.js",
    "/index.html%00", "/main.js/", "/main.js/..", "/%", "/%zz", "/%2", "/....//Package.swift", "/file:///etc/passwd",
    "/./../Package.swift",
]  # fmt: skip
PRIVATE = [
    "/test/client/wire.test.js", "/test/", "/test-support/fake-browser.js", "/README.md", "/.hidden", "/.git/config",
    "/opentok", "/opentok/", "/dist/", "/opentok/.hidden.js", "/%2ehidden",
]  # fmt: skip


@pytest.fixture(scope="module")
def copy_server(tmp_path_factory):
    """A server of a web root with private files, beside public ones."""
    outside = tmp_path_factory.mktemp("outside")
    root = outside / "web"
    for folder in ("opentok", "test/client", "test-support", "dist", ".git", "page"):
        (root / folder).mkdir(parents=True)
    for name in (
        "index.html", "main.js", "style.css", "favicon.svg", "package.json", "README.md", ".hidden", ".git/config",
        "test/client/wire.test.js",
        "test-support/fake-browser.js", "opentok/.hidden.js", "opentok/index.js", "dist/opentok.js",
        "dist/opentok.min.js", "page/a.js",
    ):  # fmt: skip
        (root / name).write_text(f"CONTENT of {name}")
    (outside / "Package.swift").write_text("OUTSIDE")
    with Server(web_root=root) as server:
        yield server


def test_a_named_pipe_in_the_web_root_is_refused_and_named(tmp_path):
    """To read it would wait for a writer."""
    (tmp_path / "index.html").write_text("a page")
    os.mkfifo(tmp_path / "pipe.js")
    refused = run("serve", "--port", "0", "--web-root", tmp_path)
    assert refused.returncode != 0 and "pipe.js" in refused.stderr and refused.stderr.count("\n") == 1, refused


async def test_files_outside_the_web_root_and_private_files_are_not_served(copy_server):
    for path in OUTSIDE + PRIVATE:
        async with await RawSocket.open(copy_server) as raw:
            await raw.send(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode("latin-1"))
            response = await raw.ends()
        assert b"OUTSIDE" not in response and b"root:" not in response, (path, response)
        # Two of the paths may be read as other spellings of a public file.
        assert b"CONTENT" not in response or path in ("/main.js/", "/main.js/.."), (path, response)
        assert b"HTTP/1.1 500" not in response, (path, response)
    # Without this, the test would pass on a server that serves nothing.
    for path in ("/", "/main.js", "/page/a.js", "/opentok/index.js"):
        assert b"CONTENT" in copy_server.request("GET", path).body, path
