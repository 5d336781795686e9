"""Programs in the style of opentok.js 2.35, which await each call, and the option `publish`."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.reads(
    "docs/opentok-web.md", "web-test-client/opentok", "Tests/BrowserTests/fixtures/promise-chat.html",
    "Tests/BrowserTests/test_awaited_programs.py",
)  # fmt: skip

SCRIPT = "/v2/js/opentok.min.js"
IN_ADDRESS = SCRIPT + "?publish=fail"
# The fixture has the address in its script tag: `<script src="…">`.
IN_TAG = SCRIPT + '" data-publish="fail'

# What `publish` fails with while the session is not connected tells what it would do.
OUTCOME = "OT.initSession('100', '1_x').publish.promise().catch((error) => error.name)"


def say(page, text):
    page.locator("#text").fill(text)
    page.get_by_role("button", name="Send").click()


@pytest.mark.smoke
def test_a_program_that_waits_for_publish_chats(open_with_camera):
    """The camera stays on, other clients get no stream, and the console says so."""
    ada = open_with_camera("granted", "promise-chat.html", data="Ada")
    bob = open_with_camera("granted", "promise-chat.html", data="Bob")
    started = ["publishing me", "ready"]
    for page in (ada, bob):
        expect(page.locator("#events li")).to_have_text(started)
    say(ada, "hello")
    expect(bob.locator("#events li")).to_have_text([*started, "Ada: hello"])
    expect(ada.locator("#events li")).to_have_text([*started, "mine: hello"])
    expect(ada.locator("#text")).to_have_value("")
    say(bob, "hello, Ada")
    expect(ada.locator("#events li").last).to_have_text("Bob: hello, Ada")
    for page in (ada, bob):
        assert page.evaluate("[session.streams.length(), unhandled]") == [1, []]
        assert len(page.said) == 1 and "not sent to other clients" in page.said[0]
    dimensions = ada.evaluate("session.streams.find().videoDimensions")
    assert dimensions == {"width": 640, "height": 480}

    say(ada, "x" * 8191)
    expect(ada.locator("#events li").last).to_have_text("not sent: OT_INVALID_PARAMETER 413")
    assert ada.evaluate("session.disconnect()") is None
    expect(ada.locator("#events li").last).to_have_text("stream ended: clientDisconnected")
    expect(ada.locator("#publisher > *")).to_have_count(0)
    assert ada.evaluate("unhandled") == []


@pytest.mark.parametrize("script", [IN_ADDRESS, IN_TAG], ids=["address", "tag"])
def test_with_publish_fail_such_a_program_does_not_start(open_with_camera, script):
    """The error is the program's: it raises no `unhandledrejection`, and no message on the console."""
    page = open_with_camera("granted", "promise-chat.html", script)
    expect(page.locator("#events li")).to_have_text(["failed: OT_NOT_SUPPORTED 1500"])
    assert page.evaluate("[session.isConnected(), unhandled]") == [True, []]
    assert page.said == []


def test_a_user_who_refuses_the_camera_ends_the_start_as_in_opentok(open_with_camera):
    page = open_with_camera("refused", "promise-chat.html")
    expect(page.locator("#events li")).to_have_text(["failed: OT_USER_MEDIA_ACCESS_DENIED 1500"])
    assert page.evaluate("unhandled") == []


def test_promises_that_a_program_ignores_raise_no_unhandledrejection(open_page, url):
    page = open_page(url + "/livez", bypass_csp=True)
    reasons = page.evaluate(
        """async () => {
             const { default: OT } = await import('/opentok/index.js');
             OT.setLogLevel(OT.NONE);
             const reasons = [];
             window.addEventListener('unhandledrejection', ({ reason }) => reasons.push(String(reason)));
             const session = OT.initSession('100', '1_x');
             ['a', 'b'].map((type) => session.signal({ type }));
             session.forceDisconnect('x');
             session.forceUnpublish({});
             session.publish.promise();
             session.connect.promise('T1==');
             session.connect.promise('T1==');
             session.disconnect();
             OT.initPublisher.promise();
             OT.reportIssue();
             OT.getDevices();
             // The browser reports a rejection after the task in which it stays unhandled; this one shows that it did.
             const shown = new Promise((done) => window.addEventListener('unhandledrejection', done));
             setTimeout(() => Promise.reject(new Error('mine')));
             await shown;
             return reasons;
           }"""
    )
    assert reasons == ["Error: mine"]
    page.complaints.clear()  # the last rejection, and the missing icon of the document


@pytest.mark.parametrize("query, outcome", [("?publish=fail", "OT_NOT_SUPPORTED"), ("", "OT_NOT_CONNECTED")])
def test_the_option_in_the_address_of_the_es_module(open_page, url, query, outcome):
    page = open_page(url + "/livez", bypass_csp=True)
    found = page.evaluate(f"import('/opentok/index.js{query}').then(({{ default: OT }}) => {OUTCOME})")
    assert found == outcome
    page.complaints.clear()  # the document has no icon


@pytest.mark.parametrize("script", [IN_ADDRESS, IN_TAG], ids=["address", "tag"])
def test_the_option_of_a_script_that_is_a_module(open_page, url, script):
    """`document.currentScript` is null there."""
    page = open_page("about:blank")
    html = f'<!doctype html><link rel="icon" href="data:,"><script type="module" src="{script}"></script>'
    page.route(url + "/module.html", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(url + "/module.html")
    page.wait_for_function("window.OT")
    assert page.evaluate(OUTCOME) == "OT_NOT_SUPPORTED"


def test_an_unknown_value_is_reported_once_and_ignored(open_page, url):
    page = open_page("about:blank")
    html = f'<!doctype html><link rel="icon" href="data:,"><script src="{SCRIPT}?publish=locale"></script>'
    page.route(url + "/bare.html", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(url + "/bare.html")
    assert page.evaluate(f"OT.setServer(location.origin, {{ publish: 'locale' }}); {OUTCOME}") == "OT_NOT_CONNECTED"
    assert len(page.complaints) == 1 and "publish=locale is ignored" in page.complaints[0]
    page.complaints.clear()
