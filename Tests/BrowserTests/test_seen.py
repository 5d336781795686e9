"""A message counts as read only if the user can see it: however a page hides the chat, and whoever shows it again."""

import pytest
from application import Application
from chat_element import FAKE_SESSION, READ_MILLISECONDS

# Way → the style of the box around the chat while it is closed, or code that closes and opens it.
WAYS = {
    "display": "display: none",
    "visibility": "visibility: hidden",
    "opacity": "opacity: 0",
    "a closed drawer": "position: fixed; top: 0; left: 0; width: 400px; transform: translateX(-105%)",
    "left of the page": "position: absolute; left: -9999px; width: 400px",
    "an accordion without height": "height: 0; overflow: hidden",
    "an accordion in a grid": "display: grid; grid-template-rows: 0fr; overflow: hidden",
    "a clip path": "clip-path: inset(100%)",
    "a circle without a radius": "clip-path: circle(0)",
    "a clip": "position: absolute; width: 400px; clip: rect(0, 0, 0, 0)",
    "below the fold": "margin-top: 3000px",
    "the end of the list below the fold": "margin-top: 500px",
    "a scale of nothing": "transform: scale(0)",
    "text for screen readers": "position: absolute; width: 1px; height: 1px; overflow: hidden",
    "content that is skipped": "content-visibility: hidden; height: 400px",
}

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title><link rel="icon" href="data:,">
<script src="SERVER/signalbox-chat.js"></script><body>
<div id="box"><div id="inner" style="min-height: 0"><signalbox-chat id="chat"></signalbox-chat></div></div>"""

FRAMES = """
  window.frames = async (count = 4) => {
    for (let frame = 0; frame < count; frame += 1) await new Promise(requestAnimationFrame);
  };
  window.receive = (text) => session.emit('signal', {
    type: 'signal:text-chat', from: { connectionId: 'other', data: 'Bob' }, data: JSON.stringify({ text }),
    seq: (window.seq = (window.seq ?? 0) + 1),
  });
  chat.attach(window.session = fakeSession('one'));
"""


@pytest.fixture
def page(open_page, url):
    application = Application(PAGE.replace("SERVER", url))
    page = open_page(application.url, is_warm=True, viewport={"width": 1000, "height": 700})
    page.evaluate(FAKE_SESSION + FRAMES + "; null")
    page.evaluate("async () => { await frames(); receive('seen'); await frames(); }")
    assert page.evaluate("chat.unreadCount") == 0, "the list is visible"
    yield page
    application.stop()


def receive(page, text):
    page.evaluate("async (text) => { await frames(); receive(text); await frames(); }", text)
    return page.evaluate("chat.unreadCount")


def wait_until_read(page):
    page.wait_for_function("() => chat.unreadCount === 0")


@pytest.mark.parametrize("way", WAYS)
def test_a_message_in_a_hidden_chat_is_unread_until_the_chat_is_shown(page, way):
    page.evaluate("(style) => { box.style.cssText = style; }", WAYS[way])
    assert receive(page, "unseen") == 1
    assert receive(page, "unseen, too") == 2
    page.evaluate("() => { window.shown = performance.now(); box.style.cssText = ''; }")
    wait_until_read(page)
    # The user has had time to see the divider.
    assert page.evaluate("performance.now() - shown") >= READ_MILLISECONDS - 200
    assert receive(page, "seen again") == 0


def test_a_message_in_a_closed_disclosure_is_unread(page):
    page.evaluate("() => { const { box } = window; const more = document.createElement('details'); box.replaceWith(more); more.append(box); }")
    assert receive(page, "unseen") == 1
    page.evaluate("() => { document.querySelector('details').open = true; }")
    wait_until_read(page)


def test_a_message_in_a_background_tab_is_unread(page):
    # Headless browsers have no background.
    page.evaluate(
        """() => {
             window.isAway = true;
             Object.defineProperty(document, 'hidden', { get: () => window.isAway, configurable: true });
             document.dispatchEvent(new Event('visibilitychange'));
           }"""
    )
    assert receive(page, "unseen") == 1
    page.evaluate("() => { window.isAway = false; document.dispatchEvent(new Event('visibilitychange')); }")
    wait_until_read(page)


def test_a_chat_that_is_hidden_while_the_user_reads_stays_unread(page):
    page.evaluate("() => { box.style.opacity = 0; }")
    assert receive(page, "unseen") == 1
    page.clock.install()
    page.evaluate("() => { box.style.opacity = ''; chat.noteReading(); }")
    page.clock.run_for(READ_MILLISECONDS - 500)
    page.evaluate("() => { box.style.opacity = 0; }")
    page.clock.run_for(2 * READ_MILLISECONDS)
    assert page.evaluate("chat.unreadCount") == 1


def test_a_chat_in_a_hidden_frame_is_not_seen(page):
    page.evaluate(
        """async () => {
             const frame = document.createElement('iframe');
             frame.id = 'frame';
             frame.width = 600;
             frame.height = 500;
             document.body.prepend(frame);
             frame.contentDocument.body.append(chat);
             window.chat = frame.contentDocument.getElementById('chat');
             await frames(10);
           }"""
    )
    assert receive(page, "seen in the frame") == 0
    page.evaluate("() => { document.getElementById('frame').style.opacity = 0; }")
    assert receive(page, "unseen") == 1
