"""The page and the library, as the server gives them out."""

import pytest

from raw_socket import RawSocket
from server_process import WEB_ROOT, Server

LIBRARY = ["/opentok.js", "/v2/js/opentok.js", "/v2/js/opentok.min.js", "/v2.6/js/opentok.js", "/v2.24.5/js/opentok.min.js"]


def test_the_page_is_given_out_with_a_strict_policy(server):
    answer = server.request("GET", "/")
    assert answer.status == 200
    assert answer.headers["Content-Type"].lower() == "text/html; charset=utf-8"
    assert answer.body == (WEB_ROOT / "index.html").read_bytes()
    policy = answer.headers["Content-Security-Policy"]
    directives = {part.split()[0]: part.split()[1:] for part in policy.split(";") if part.strip()}
    assert directives["default-src"] in (["'none'"], ["'self'"]), policy
    assert "'unsafe-inline'" not in policy and "'unsafe-eval'" not in policy and "*" not in policy.split(), policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path, kind", [("/main.js", "text/javascript"), ("/style.css", "text/css"), ("/favicon.svg", "image/svg+xml"), ("/opentok/index.js", "text/javascript")]
)
def test_files_have_their_kind_and_are_asked_for_again_only_if_changed(server, path, kind):
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
def test_the_library_is_for_pages_of_every_origin(server, path):
    answer = server.request("GET", path, headers={"Origin": "https://elsewhere.example"})
    assert answer.status == 200, "run scripts/bundle-web first"
    assert answer.headers["Content-Type"].split(";")[0] == "text/javascript"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert b"initSession" in answer.body
    file = "opentok.min.js" if path.endswith("min.js") else "opentok.js"
    assert answer.body == (WEB_ROOT / "dist" / file).read_bytes()


@pytest.mark.parametrize("path", ["/v1.1/js/opentok.js", "/v20/js/opentok.js", "/v2.x/js/opentok.js", "/v2.6/js/other.js", "/v2.6", "/v2.6/project/100"])
def test_other_versions_and_files_are_not_there(server, path):
    assert server.request("GET", path).status == 404


def test_the_page_is_not_for_pages_of_other_origins(server):
    answer = server.request("GET", "/", headers={"Origin": "https://elsewhere.example"})
    assert answer.headers["Access-Control-Allow-Origin"] is None


OUTSIDE = [
    "/../Package.swift", "/../../../../../../etc/passwd", "/%2e%2e/Package.swift", "/%2e%2e%2fPackage.swift", "/..%2fPackage.swift",
    "/opentok/../../Package.swift", "/opentok/..%2f..%2fPackage.swift", "//etc/passwd", "/%2fetc/passwd", "/..\\Package.swift",
    "/..%5cPackage.swift", "/%252e%252e/Package.swift", "/.%2e/Package.swift", "/\xc0\xae\xc0\xae/Package.swift", "/index.html%00.js",
    "/index.html%00", "/main.js/", "/main.js/..", "/%", "/%zz", "/%2", "/....//Package.swift", "/file:///etc/passwd", "/./../Package.swift",
]  # fmt: skip
NOT_FOR_READERS = [
    "/test/wire.test.js", "/test/", "/test-support/fake-browser.js", "/README.md", "/.hidden", "/.git/config",
    "/opentok", "/opentok/", "/dist/", "/opentok/.hidden.js", "/%2ehidden",
]  # fmt: skip


@pytest.fixture(scope="module")
def server_of_a_copy(tmp_path_factory):
    """A folder with what should not be given out, beside what should."""
    outside = tmp_path_factory.mktemp("outside")
    root = outside / "web"
    for folder in ("opentok", "test", "test-support", "dist", ".git", "page"):
        (root / folder).mkdir(parents=True)
    for name in (
        "index.html", "main.js", "style.css", "favicon.svg", "package.json", "README.md", ".hidden", ".git/config", "test/wire.test.js",
        "test-support/fake-browser.js", "opentok/.hidden.js", "opentok/index.js", "dist/opentok.js", "dist/opentok.min.js", "page/a.js",
    ):  # fmt: skip
        (root / name).write_text(f"CONTENT of {name}")
    (outside / "Package.swift").write_text("OUTSIDE")
    with Server(web_root=root) as server:
        yield server


@pytest.mark.parametrize("path", OUTSIDE + NOT_FOR_READERS)
async def test_what_is_not_for_readers_is_not_given_out(server_of_a_copy, path):
    async with await RawSocket.open(server_of_a_copy) as raw:
        await raw.send(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode("latin-1"))
        said = await raw.ends()
    assert b"OUTSIDE" not in said and b"root:" not in said, said
    # Another spelling of a path that is given out is not what this is about.
    assert b"CONTENT" not in said or path in ("/main.js/", "/main.js/.."), said
    assert b"HTTP/1.1 500" not in said, said


async def test_the_copy_is_given_out(server_of_a_copy):
    """So that the test above is about the paths, and not about a server that gives out nothing."""
    for path in ("/", "/main.js", "/page/a.js", "/opentok/index.js"):
        assert b"CONTENT" in server_of_a_copy.request("GET", path).body, path
