"""Pages written for OpenTok: a script tag, and code without any reference to this server."""

import pytest
from playwright.sync_api import expect
from user import User

PATHS = [
    "/opentok.js", "/v2/js/opentok.js", "/v2/js/opentok.min.js", "/v2.6/js/opentok.js", "/webrtc/v2.2/js/TB.min.js",
    "/npm/@vonage/client-sdk-video@latest/dist/js/opentok.js",
]


@pytest.fixture
def open_classic(open_application):
    def open_classic(room, **changes):
        return open_application("classic.html", "/v2/js/opentok.min.js", room, **changes)

    return open_classic


def test_a_video_chat_made_for_opentok_keeps_its_text_chat(open_application, open_page, url, room):
    """Its calls without a camera fail in its own error handler, everything else works, and its console stays empty."""
    page = open_application("video-chat.html", "/v2/js/opentok.min.js", room, query={"role": "moderator"})
    history = page.locator("#history li")
    expect(history).to_have_count(4)
    lines = history.all_inner_texts()
    # The browser tells at its own pace that it has no camera.
    assert sorted(lines) == [
        "cameras: 0",
        "connected with 0 streams",
        "initPublisher failed: OT_NO_DEVICES_FOUND",
        "publish failed: OT_NO_DEVICES_FOUND",
    ]

    def say(text):
        page.locator("#text").fill(text)
        page.get_by_role("button", name="Send").click()

    say("hello")
    expect(history.last).to_have_text("me: hello")
    expect(page.locator("#text")).to_have_value("")
    ada = User.join(open_page, url, room, "Ada")
    expect(history.last).to_have_text("joined: Ada")
    ada.open_inspector()
    ada.send_signal("msg", "from Ada")
    expect(history.last).to_have_text("theirs: from Ada")

    page.get_by_role("button", name="Remove").click()
    lines += ["me: hello", "joined: Ada", "theirs: from Ada"]
    expect(history).to_have_count(len(lines) + 2)
    texts = history.all_inner_texts()
    assert texts[: len(lines)] == lines
    # The presence event (PRES-2) and the acknowledgement may arrive in either order.
    assert sorted(texts[len(lines) :]) == ["forceDisconnect done", "left: Ada, forceDisconnected"]
    expect(ada.page.locator("#notice-text")).to_have_text("You were removed from this chat.")

    page.get_by_role("button", name="Remove").click()
    expect(history.last).to_have_text("forceDisconnect failed: OT_INVALID_PARAMETER")
    say("x" * 8191)
    expect(history.last).to_contain_text("signal failed: OT_INVALID_PARAMETER, ")
    page.evaluate("session.disconnect()")
    expect(history.last).to_have_text("disconnected: clientDisconnected")


def test_changing_the_host_in_the_script_tag_is_enough(open_classic, open_page, url):
    page = open_classic("classic")
    events = page.locator("#events li")
    expect(events).to_have_text(["sessionConnected Page", "connect done", "connectionCreated Page of 1"])
    page.locator("#text").fill("hello")
    page.get_by_role("button", name="Send").click()
    expect(events).to_have_text(
        [
            "sessionConnected Page",
            "connect done",
            "connectionCreated Page of 1",
            "signal:msg generic",
            "signal:msg mine: hello",
            "sent",
        ]
    )

    # A user of the test page and this page are in one session.
    ada = User.join(open_page, url, "classic", "Ada")
    expect(events.last).to_have_text("connectionCreated Ada of 2")
    ada.open_inspector()
    ada.send_signal("msg", "from the inspector")
    expect(events.last).to_have_text("signal:msg Ada: from the inspector")
    ada.page.close()
    expect(events.last).to_have_text("connectionDestroyed Ada clientDisconnected")

    page.locator("#text").fill("x" * 8191)
    page.get_by_role("button", name="Send").click()
    expect(events.last).to_have_text("refused OT_INVALID_PARAMETER 413")
    page.evaluate("session.disconnect()")
    expect(events.last).to_have_text("sessionDisconnected clientDisconnected")
    page.locator("#text").fill("too late")
    page.get_by_role("button", name="Send").click()
    expect(events.filter(has_text="refused OT_NOT_CONNECTED 500")).to_have_count(1)
    expect(events.filter(has_text="exception 500")).to_have_count(1)


def test_a_forged_token_is_refused_as_in_opentok(open_classic):
    page = open_classic("classic", token="T1==forged")
    expect(page.locator("#events li")).to_have_text(
        ["connect failed 1004 OT_AUTHENTICATION_ERROR", "exception 1004 Authentication error"]
    )


def test_the_library_is_where_pages_look_for_it(open_page, url):
    page = open_page("about:blank")
    asked = []
    page.route(url + "/bare.html", lambda route: route.fulfill(body=bare_page(asked[-1]), content_type="text/html"))
    for path in PATHS:
        answer = page.request.get(url + path)
        assert answer.status == 200, path
        assert "javascript" in answer.headers["content-type"], path
        asked.append(path)
        page.goto(url + "/bare.html")
        assert page.evaluate("OT.checkSystemRequirements()") == 1, path


def test_the_library_is_also_an_es_module(open_page, url):
    page = open_page(url + "/")
    count = page.evaluate(
        """async () => {
             const { default: OT } = await import('/opentok/index.js');
             const { apiKey, sessionId, token } = await (await fetch('/room/module')).json();
             const session = OT.initSession(apiKey, sessionId);
             return new Promise((done) => session.connect(token, (error) =>
               done(error ? error.code : session.connections.length())));
           }"""
    )
    assert count == 1, "the collection has the own connection when the handler runs"


def test_objects_sent_by_a_page_arrive_as_objects(open_application, room):
    """Such pages read `event.data.msg`."""
    ada = open_application("object-data.html", "/v2/js/opentok.min.js", room, sender="Ada")
    expect(ada.locator("#events li")).to_have_text(["connected, 1 here", "no camera"])
    bob = open_application("object-data.html", "/v2/js/opentok.js", room, sender="Bob")
    expect(bob.locator("#events li")).to_have_text(["connected, 2 here", "no camera"])
    ada.evaluate("say('hello')")
    expect(ada.locator("#events li").last).to_have_text("mine: hello by Ada")
    expect(bob.locator("#events li").last).to_have_text("theirs: hello by Ada")


def test_the_script_is_an_amd_module_where_there_is_a_loader(open_page, url):
    page = open_page("about:blank")
    loader = "window.got = []; window.define = (names, make) => got.push(make()); define.amd = {};"
    page.route(
        url + "/amd.html",
        lambda route: route.fulfill(
            body=f"<!doctype html><script>{loader}</script>" + bare_page("/v2/js/opentok.min.js"),
            content_type="text/html",
        ),
    )
    page.goto(url + "/amd.html")
    assert page.evaluate("[got.length, got[0] === OT, TB === OT]") == [1, True, True]


def test_the_script_as_text_finds_its_server(open_page, url):
    """jQuery's `getScript` inserts a script of the same origin as text."""
    # A document of that origin without a policy.
    page = open_page(url + "/livez", bypass_csp=True)
    outcome = page.evaluate(
        """async () => {
             const script = document.createElement('script');
             script.text = await (await fetch('/v2/js/opentok.min.js')).text();
             document.head.appendChild(script);
             const { apiKey, sessionId, token } = await (await fetch('/room/text')).json();
             return new Promise((done) => OT.initSession(apiKey, sessionId).connect(token, (error) =>
               done(error ? error.message : 'connected')));
           }"""
    )
    assert outcome == "connected"
    page.complaints.clear()  # the document has no icon


def test_a_module_finds_its_server(open_application, room):
    """`document.currentScript` is null in a module."""
    page = open_application("module.html", "/v2/js/opentok.min.js", room)
    expect(page.locator("#outcome")).to_have_text("connected")


def test_the_helpers_for_elements(open_page, url):
    """Layouts of published programs use them."""
    page = open_page(url + "/livez", bypass_csp=True)
    found = page.evaluate(
        """async () => {
             const { default: OT } = await import('/opentok/index.js');
             const $ = OT.$;
             const attributes = { className: 'a', 'data-x': '1', style: { width: '5px' } };
             const box = $.createElement('div', attributes, ['<b>bold</b>', $.createElement('i')]);
             document.body.appendChild(box);
             const facts = [$.isElementNode(box), $.isElementNode({}), box.outerHTML];
             $.addClass(box, 'b c');
             $.removeClass(box, 'a c');
             $.css(box, { height: '7px' });
             $.css(box, 'color', 'red');
             facts.push(box.className, $.css(box, 'height'), $.css(box, 'color'), $.css(box, 'display'));
             $.hide(box);
             facts.push($.isDisplayNone(box));
             $.show(box);
             facts.push($.isDisplayNone(box));
             let clicks = 0;
             const click = () => (clicks += 1);
             $.on(box, 'click', click);
             box.click();
             $.off(box, 'click', click);
             box.click();
             $.emptyElement(box);
             facts.push(clicks, box.childNodes.length);
             $.removeElement(box);
             return [...facts, box.isConnected];
           }"""
    )
    assert found == [
        True, False, '<div class="a" data-x="1" style="width: 5px;"><b>bold</b><i></i></div>',
        "b", "7px", "rgb(255, 0, 0)", "block", True, False, 1, 0, False,
    ]  # fmt: skip
    page.complaints.clear()  # the document has no icon


# A container that puts its two elements beside each other, as a layout of OpenTok's samples does.
LAYOUT = """
const $ = OT.$;
document.body.innerHTML = '<div id="layout" style="width: 300px; height: 80px; border: 2px solid"><p></p><p></p></div>';
const box = $('layout');
const size = (name) => parseInt($[name](box), 10) - 2 * parseInt($.css(box, 'borderTop'), 10);
[...box.children].forEach((child, index) => {
  $.css(child, { position: 'absolute', margin: '0px', left: `${index * 150}px`, height: `${size('height')}px` });
  $.css(child, 'width', `${$.roundFloat(size('width') / 2, 0)}px`);
});
[$('#layout') === box, $(box) === box, $('nothing'), [...box.children].map((child) => [$.width(child), $.height(child)]),
  /^[\\da-f-]{36}$/.test($.uuid())]
"""


def test_the_helpers_measure_for_a_container_of_videos(open_page, url):
    page = open_page("about:blank")
    page.route(
        url + "/layout.html",
        lambda route: route.fulfill(body=bare_page("/v2/js/opentok.min.js"), content_type="text/html"),
    )
    page.goto(url + "/layout.html")
    assert page.evaluate(LAYOUT) == [True, True, None, [["150px", "80px"]] * 2, True]


def bare_page(path):
    return f'<!doctype html><link rel="icon" href="data:,"><script src="{path}"></script>'
