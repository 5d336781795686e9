"""`<signalbox-launcher>`: a bubble in the corner of a page, which loads the chat at its first opening."""

import gzip

import pytest
from application import Application
from conftest import REPOSITORY
from playwright.sync_api import expect

DIST = REPOSITORY / "web-test-client/dist"

PAGE = """<!doctype html><html lang="LANG"><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src SERVER; connect-src SERVER SOCKET;
  require-trusted-types-for 'script'; trusted-types 'none'">
<script src="SERVER/signalbox-launcher.js"></script>
<body><h1>A shop</h1><p>With a text.</p><input aria-label="Search">
<signalbox-launcher ATTRIBUTES></signalbox-launcher></body></html>"""

# Counts notices and sounds, and grants them.
RECORD = """
  window.notices = []; window.sounds = 0;
  window.Notification = class { static permission = 'granted';
    constructor(title, { body }) { window.notices.push([title, body]); } close() {} };
  const { createOscillator } = AudioContext.prototype;
  AudioContext.prototype.createOscillator = function () { window.sounds += 1; return createOscillator.call(this); };
"""


@pytest.fixture
def open_shop(open_page, url, access):
    applications = []

    def open_shop(name="Ada", lang="en", attributes="", page=None, **options):
        given = access(name, user=f"u-{name}")
        named = f'session="{given["sessionId"]}" api-key="{given["apiKey"]}" token="{given["token"]}" {attributes}'
        html = PAGE.replace("SOCKET", url.replace("http", "ws")).replace("SERVER", url).replace("LANG", lang)
        applications.append(Application(html.replace("ATTRIBUTES", named)))
        if page is None:
            page = open_page("about:blank", **options)
        page.add_init_script(RECORD)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url.rsplit("/", 1)[-1]))
        page.goto(applications[-1].url)
        return page

    yield open_shop
    for application in applications:
        application.stop()


def bubble(page, name="Open chat"):
    return page.get_by_role("button", name=name)


def open_chat(page):
    bubble(page).click()
    page.wait_for_function("() => document.querySelector('signalbox-launcher').chat?.state === 'connected'")


def test_the_launcher_has_3_kb():
    assert len(gzip.compress((DIST / "signalbox-launcher.js").read_bytes(), 9)) <= 3000


def test_the_chat_loads_at_the_first_opening_and_keeps_its_state(open_shop):
    page = open_shop()
    expect(bubble(page)).to_have_attribute("aria-expanded", "false")
    assert [name for name in page.asked if name.endswith(".js")] == ["signalbox-launcher.js"]
    bubble(page).focus()
    page.keyboard.press("Enter")
    field = page.locator("#composer-text")
    expect(field).to_be_focused()
    assert page.asked.count("signalbox-chat.js") == 1
    send_text(page, "hello")
    expect(page.locator(".bubble")).to_have_text("hello")
    field.fill("a draft")
    page.keyboard.press("Escape")
    expect(bubble(page)).to_be_focused()
    expect(field).to_be_hidden()
    assert page.evaluate("document.querySelector('signalbox-launcher').chat.state") == "connected"
    bubble(page).click()
    expect(field).to_have_value("a draft")
    bubble(page, "Close chat").click()
    expect(field).to_be_hidden()
    assert page.asked.count("signalbox-chat.js") == 1


def send_text(page, text):
    page.locator("#composer-text").fill(text)
    page.locator("#composer-text").press("Enter")


def test_escape_in_the_emoji_closes_only_them(open_shop):
    page = open_shop()
    open_chat(page)
    page.locator("#emoji").click()
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#emoji-panel")).to_be_hidden()
    expect(page.locator("#composer-text")).to_be_visible()


def test_the_bubble_counts_what_is_unread(open_shop):
    ada, bob = open_shop("Ada"), open_shop("Bob")
    for page in (ada, bob):
        open_chat(page)
    bubble(ada, "Close chat").click()
    for text in ("one", "two"):
        send_text(bob, text)
    expect(bubble(ada, "Open chat (New messages: 2)")).to_be_visible()
    expect(ada.locator("#badge")).to_have_text("2")
    bubble(ada).click()
    expect(ada.locator("#badge")).to_have_count(0)
    ada.wait_for_function("() => document.querySelector('signalbox-launcher').unreadCount === 0")


def test_with_load_idle_the_bubble_counts_before_the_first_opening(open_shop):
    ada, bob = open_shop("Ada", attributes='load="idle"'), open_shop("Bob")
    ada.wait_for_function("() => document.querySelector('signalbox-launcher').chat?.state === 'connected'")
    open_chat(bob)
    send_text(bob, "hello")
    expect(ada.locator("#badge")).to_have_text("1")


def test_on_a_phone_the_chat_fills_the_screen(open_shop):
    page = open_shop(viewport={"width": 390, "height": 700})
    open_chat(page)
    box = page.locator("#panel").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 390, 700)
    close = bubble(page, "Close chat").bounding_box()
    assert close["y"] < 10 and close["x"] > 330
    # The field is not under the button.
    field = page.locator("#composer-text").bounding_box()
    assert field["y"] > 500
    bubble(page, "Close chat").click()
    expect(page.locator("#panel")).to_be_hidden()


@pytest.mark.parametrize("lang, name", [("ar", "فتح الدردشة"), ("de", "Chat öffnen"), ("zh-TW", "開啟聊天"), ("xx", "Open chat")])
def test_the_bubble_speaks_the_language_of_the_page(open_shop, lang, name):
    expect(bubble(open_shop(lang=lang), name)).to_be_visible()


def test_one_tab_of_a_user_gives_sound_and_notice_and_never_for_own_messages(open_shop):
    ada = open_shop("Ada", attributes='sound="on" notice="on"')
    open_chat(ada)
    second = ada.context.new_page()
    second.add_init_script(RECORD)
    second.goto(ada.url)
    open_chat(second)
    for page in (ada, second):
        page.get_by_role("button", name="Close chat").click()
    bob = open_shop("Bob")
    open_chat(bob)
    send_text(bob, "hello Ada")
    given = "() => window.notices.length"
    wait_until(lambda: ada.evaluate(given) + second.evaluate(given) > 0, ada)
    assert ada.evaluate("window.notices") + second.evaluate("window.notices") == [["Bob", "hello Ada"]]
    assert sorted([ada.evaluate("window.sounds"), second.evaluate("window.sounds")]) == [0, 2]
    # Her own message from another tab gives none, and with `muted` there is none.
    open_chat(second)
    send_text(second, "hello Bob")
    second.get_by_role("button", name="Close chat").click()
    for page in (ada, second):
        page.evaluate("document.querySelector('signalbox-launcher').setAttribute('muted', '')")
    send_text(bob, "muted")
    # What she has read in the other tab is read in this one, too.
    expect(ada.locator("#badge")).to_have_text("1")
    # The end of the head start of the tab that is read.
    ada.evaluate("() => new Promise((resolve) => setTimeout(resolve, 500))")
    assert ada.evaluate(given) + second.evaluate(given) == 1


def wait_until(condition, page):
    page.evaluate("() => { window.tries = 0; }")
    for _ in range(600):
        if condition():
            return
        page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 50))")
    raise AssertionError("it did not happen")


def test_the_page_can_keep_a_notice(open_shop):
    ada = open_shop("Ada", attributes='notice="on"')
    open_chat(ada)
    bubble(ada, "Close chat").click()
    ada.evaluate(
        """() => {
             window.kept = [];
             addEventListener('signalbox-notice', (event) => {
               window.kept.push(event.detail.message.text);
               event.preventDefault();
             });
           }"""
    )
    bob = open_shop("Bob")
    open_chat(bob)
    send_text(bob, "quiet")
    ada.wait_for_function("() => window.kept.length === 1")
    assert ada.evaluate("window.notices") == []
