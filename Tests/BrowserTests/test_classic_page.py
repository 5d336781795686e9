"""A page made for OpenTok: a script tag, and code that knows nothing of this server."""

import http.server
import pathlib
import threading
import urllib.parse

import pytest
from person import Person
from playwright.sync_api import expect

CLASSIC = pathlib.Path(__file__).parent / "fixtures" / "classic.html"


@pytest.fixture
def open_classic(open_page, url):
    """The page comes from an application's own server, another origin; only its script tag names ours."""
    html = CLASSIC.read_text().replace("SERVER", url).encode()

    class Application(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(html)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Application)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def open_classic(room, **changes):
        page = open_page("about:blank")
        given = page.request.get(f"{url}/room/{room}?data=Page").json() | changes
        page.goto(f"http://127.0.0.1:{server.server_port}/?{urllib.parse.urlencode(given)}")
        return page

    yield open_classic
    server.shutdown()
    thread.join()
    server.server_close()


def test_changing_the_host_in_the_script_tag_is_enough(open_classic, open_page, url):
    page = open_classic("classic")
    heard = page.locator("#heard li")
    expect(heard).to_have_text(["sessionConnected Page", "connect done", "connectionCreated Page of 1"])
    page.locator("#text").fill("hello")
    page.get_by_role("button", name="Send").click()
    expect(heard).to_have_text(
        [
            "sessionConnected Page",
            "connect done",
            "connectionCreated Page of 1",
            "signal:msg generic",
            "signal:msg mine: hello",
            "sent",
        ]
    )

    # Somebody on the test page and this page are in one session.
    ada = Person.join(open_page, url, "classic", "Ada")
    expect(heard.last).to_have_text("connectionCreated Ada of 2")
    ada.open_inspector()
    ada.send_signal("msg", "from the inspector")
    expect(heard.last).to_have_text("signal:msg Ada: from the inspector")
    ada.page.close()
    expect(heard.last).to_have_text("connectionDestroyed Ada clientDisconnected")

    page.locator("#text").fill("x" * 8191)
    page.get_by_role("button", name="Send").click()
    expect(heard.last).to_have_text("refused OT_INVALID_PARAMETER 413")
    page.evaluate("session.disconnect()")
    expect(heard.last).to_have_text("sessionDisconnected clientDisconnected")
    page.locator("#text").fill("too late")
    page.get_by_role("button", name="Send").click()
    expect(heard.filter(has_text="refused OT_NOT_CONNECTED 500")).to_have_count(1)
    expect(heard.filter(has_text="exception 500")).to_have_count(1)


def test_a_forged_token_is_refused_as_in_opentok(open_classic):
    page = open_classic("classic", token="T1==forged")
    expect(page.locator("#heard li")).to_have_text(
        ["connect failed 1004 OT_AUTHENTICATION_ERROR", "exception 1004 Authentication error"]
    )


@pytest.mark.parametrize("path", ["/opentok.js", "/v2/js/opentok.js", "/v2/js/opentok.min.js"])
def test_the_library_is_where_pages_look_for_it(open_page, url, path):
    page = open_page("about:blank")
    answer = page.request.get(url + path)
    assert answer.status == 200
    assert "javascript" in answer.headers["content-type"]
    page.route(url + "/bare.html", lambda route: route.fulfill(body=bare_page(path), content_type="text/html"))
    page.goto(url + "/bare.html")
    assert page.evaluate("OT.checkSystemRequirements()") == 1


def test_the_library_is_an_es_module_too(open_page, url):
    page = open_page(url + "/")
    count = page.evaluate(
        """async () => {
             const { default: OT } = await import('/opentok/index.js');
             const { apiKey, sessionId, token } = await (await fetch('/room/module')).json();
             const session = OT.initSession(apiKey, sessionId);
             return new Promise((done) => session.connect(token, (error) => done(error ? error.code : session.connections.length())));
           }"""
    )
    assert count == 0, "the handler runs inside sessionConnected, before anybody is announced"


def bare_page(path):
    return f'<!doctype html><link rel="icon" href="data:,"><script src="{path}"></script>'
