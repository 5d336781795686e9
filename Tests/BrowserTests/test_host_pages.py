"""`<signalbox-chat>` in pages that know nothing of it: their sizes, their layouts, their inherited styles, their schemes.

`HOSTS` are such pages. Each is measured for all that a user needs, and photographed.
"""

import pytest
from application import Application
from chat_element import FAKE_SESSION
from test_accessibility import LOW_CONTRAST

TAG = '<signalbox-chat id="chat"></signalbox-chat>'
FILLER = "<p>" + "Some text of the page around the chat. " * 30 + "</p>"

# Page → its style, and its content. The chat has no size there unless the style gives one.
HOSTS = {
    "plain": ("", TAG),
    "root of 62.5 %": ("html { font-size: 62.5% } body { font-size: 1.6rem }", TAG),
    "root of 62.5 %, and no other size": ("html { font-size: 62.5% }", TAG),
    "root of 24 px": ("html { font-size: 24px }", TAG),
    "small text": ("body { font-size: 9px }", TAG),
    "flex row": (".row { display: flex }", f'<div class="row"><nav>Menu</nav>{TAG}</div>'),
    "flex row that centres": (
        ".row { display: flex; align-items: center; justify-content: center; height: 90vh }",
        f'<div class="row">{TAG}</div>',
    ),
    "flex column": (".column { display: flex; flex-direction: column; align-items: flex-start }",
                    f'<div class="column"><nav>Menu</nav>{TAG}</div>'),
    "centred grid": (".grid { display: grid; place-items: center; height: 90vh }", f'<div class="grid">{TAG}</div>'),
    "grid of two": (".grid { display: grid; grid-template-columns: auto 1fr }",
                    f'<div class="grid">{TAG}{FILLER}</div>'),
    "fixed corner": ("#chat { position: fixed; right: 0; bottom: 0 }", FILLER + TAG),
    "fixed corner by its parent": (".corner { position: fixed; right: 0; bottom: 0 }",
                                   f'{FILLER}<div class="corner">{TAG}</div>'),
    "float": ("#chat { float: right }", TAG + FILLER),
    "table cell": ("", f"<table><tr><td>Cell</td><td>{TAG}</td></tr></table>"),
    "inline block": ("#chat { display: inline-block }", f"Text {TAG} text"),
    "inline block around it": (".box { display: inline-block }", f'<div class="box">{TAG}</div>'),
    "absolute": ("#chat { position: absolute; top: 0; left: 0 }", TAG),
    "block": ("#chat { display: block }", TAG),
    "height of the content": ("#chat { height: auto }", TAG),
    "percentage of nothing": ("#chat { height: 100% }", TAG),
    "width of the content": ("#chat { width: fit-content }", TAG),
    "universal rules": (
        "* { color: #333; font: 10px/1 serif; background: #fff; --ink: #fff; --surface: #fff; --accent: #fff;"
        " --shadow: none; letter-spacing: 4px; text-align: right; box-sizing: content-box }",
        TAG,
    ),
    "inherited text": (
        "body { color: #c00; font: italic 700 13px/2.4 monospace; letter-spacing: 6px; word-spacing: 20px;"
        " text-transform: uppercase; text-indent: 60px; text-shadow: 2px 2px 3px red; text-align: right;"
        " white-space: pre; word-break: break-all; hyphens: auto; cursor: crosshair; user-select: none;"
        " caret-color: transparent; -webkit-text-stroke: 1px red; font-variant: small-caps; tab-size: 30;"
        " line-break: anywhere; list-style: square; quotes: none; text-wrap: nowrap; font-stretch: condensed;"
        " -webkit-text-fill-color: red; text-emphasis: dot; overflow-wrap: anywhere; accent-color: red;"
        " writing-mode: horizontal-tb; border-collapse: collapse; text-decoration: underline wavy red }",
        TAG,
    ),
}  # fmt: skip

MESSAGES = """() => {
  chat.attach(window.session = fakeSession('one'));
  session.emit('signal', { type: 'signal:text-chat', from: { connectionId: 'other', data: 'Bob' }, seq: 1,
                           data: JSON.stringify({ text: 'Hello! Have you seen the new page? https://example.org/' }) });
  chat.draft = 'I have not, but I will look at it now';
  chat.shadowRoot.getElementById('send').click();
}"""

# What a user needs, as numbers.
MEASURED = """() => {
  const root = chat.shadowRoot;
  const box = (each) => each.getBoundingClientRect();
  const size = (each) => parseFloat(getComputedStyle(each).fontSize);
  const texts = [];
  const walker = document.createTreeWalker(root.getElementById('chat-frame'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, data } = walker.currentNode;
    const { width } = box(parentElement);
    if (data.trim() && parentElement.checkVisibility() && width > 1) texts.push([data, size(parentElement)]);
  }
  const send = box(root.getElementById('send'));
  const hit = document.elementFromPoint((send.left + send.right) / 2, (send.top + send.bottom) / 2);
  const { width, height, left, right } = box(chat);
  return {
    width, height, left, right, texts, canSend: hit === chat,
    message: size(root.querySelector('.bubble')), listHeight: box(root.getElementById('messages-scroll')).height,
  };
}"""

# The computed style of the parts with text. What depends on the size of the box is left out.
COMPUTED = """() => Object.fromEntries(['.bubble', '.row-name', '#composer-text', '#send', '#typing-text'].map((selector) => {
  const style = getComputedStyle(chat.shadowRoot.querySelector(selector));
  const isOfBox = /^(width|height|inline-size|block-size|perspective-origin|transform-origin|font-size|line-height|--)/;
  const isOfEm = /^(padding|margin|min-|max-|border|column-gap|row-gap|top|left|bottom|right|inset|text-underline)/;
  const names = [...style].filter((name) => !isOfBox.test(name) && !isOfEm.test(name));
  return [selector, Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)]))];
}))"""


@pytest.fixture
def open_host_page(open_page, url):
    """Opens a page of another origin with this style and content, and a chat with two messages in it."""
    applications = []

    def open_host_page(style="", content=TAG, **options):
        html = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
          <meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
          <style>{style}</style><script src="{url}/signalbox-chat.js"></script><body>{content}</body></html>"""
        applications.append(Application(html))
        page = open_page(applications[-1].url, is_warm=True, **options)
        page.evaluate(FAKE_SESSION)
        page.evaluate(MESSAGES)
        page.locator("#chat .bubble").nth(1).wait_for()
        return page

    yield open_host_page
    for application in applications:
        application.stop()


PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


@pytest.mark.parametrize("host", HOSTS)
def test_a_user_can_read_and_write_wherever_the_page_puts_the_chat(open_host_page, host, screenshots):
    page = open_host_page(*HOSTS[host])
    name = host.replace(" ", "-").replace("%", "percent")
    page.screenshot(path=screenshots / f"host-{name}.png")
    measured = page.evaluate(MEASURED)
    assert measured["width"] >= 300 and measured["height"] >= 330, measured
    assert measured["left"] >= 0 and measured["right"] <= 1280, measured
    assert measured["height"] <= 500, "messages do not make the chat higher"
    assert measured["listHeight"] > 150 and measured["canSend"], measured
    assert 14 <= measured["message"] <= 20, measured
    for text, size in measured["texts"]:
        assert 11 <= size <= measured["message"], (text, size)


@pytest.mark.parametrize("host", ["plain", "flex row", "fixed corner", "root of 24 px", "inline block"])
def test_on_a_phone_the_chat_is_not_wider_than_the_page(open_host_page, host, screenshots):
    page = open_host_page(*HOSTS[host], **PHONE)
    page.screenshot(path=screenshots / f"host-phone-{host.replace(' ', '-')}.png")
    measured = page.evaluate(MEASURED)
    assert measured["width"] >= 250 and measured["left"] >= 0, measured
    assert measured["right"] <= 360 and measured["canSend"], measured
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("host", ["inherited text", "universal rules", "small text"])
def test_nothing_is_inherited_from_the_page(open_host_page, host):
    plain = open_host_page().evaluate(COMPUTED)
    found = open_host_page(*HOSTS[host]).evaluate(COMPUTED)
    for selector, style in plain.items():
        changed = {name: (value, found[selector][name]) for name, value in style.items() if found[selector][name] != value}
        assert changed == {}, selector


def test_a_size_can_be_set_and_all_others_follow_it(open_host_page):
    page = open_host_page("#chat { --signalbox-font-size: 24px }")
    measured = page.evaluate(MEASURED)
    assert (measured["message"], measured["height"]) == (24, 576)
    page.evaluate("chat.style.setProperty('--signalbox-font-size', '6px')")
    assert min(size for _, size in page.evaluate(MEASURED)["texts"]) == 11
    # The older ways to give a size still do.
    page.evaluate("() => { chat.style.cssText = 'height: 700px; width: 500px; --signalbox-font-size: 16px'; }")
    measured = page.evaluate(MEASURED)
    assert (measured["width"], measured["height"]) == (500, 700)


LIGHT, DARK = "rgb(255, 255, 255)", "rgb(22, 29, 27)"

# Style of the page, attribute, the user's system, and the background of the chat.
SCHEMES = {
    "a light page in a dark system": ("", None, "dark", LIGHT),
    "a page with both": (":root { color-scheme: light dark }", None, "dark", DARK),
    "a page with both in a light system": (":root { color-scheme: light dark }", None, "light", LIGHT),
    "a dark page in a light system": (":root { color-scheme: dark }", None, "light", DARK),
    "a dark part of a light page": ("body { color-scheme: dark }", None, "light", DARK),
    "a page that wants it light only": (":root { color-scheme: only light }", None, "dark", LIGHT),
    "the attribute dark": ("", "dark", "light", DARK),
    "the attribute light": (":root { color-scheme: dark }", "light", "dark", LIGHT),
    "text of one colour": ("* { color: #333 } :root { color-scheme: dark }", None, "light", DARK),
}


@pytest.mark.parametrize("case", SCHEMES)
def test_the_scheme_is_that_of_the_page(open_host_page, case):
    style, scheme, system, expected = SCHEMES[case]
    page = open_host_page(style, color_scheme=system, reduced_motion="reduce")
    page.evaluate("(scheme) => { chat.scheme = scheme; }", scheme)
    surface = "getComputedStyle(chat.shadowRoot.getElementById('chat-frame')).backgroundColor"
    assert page.evaluate(surface) == expected
    assert page.evaluate(LOW_CONTRAST) == []
    # The scroll bar and the caret have it, too.
    scheme = "getComputedStyle(chat.shadowRoot.getElementById('composer-text')).colorScheme"
    assert ("dark" in page.evaluate(scheme)) == (expected == DARK) or "light dark" in page.evaluate(scheme)


def test_the_scheme_follows_a_page_that_changes_its_own(open_host_page):
    page = open_host_page(":root.dark { color-scheme: dark }")
    surface = "getComputedStyle(chat.shadowRoot.getElementById('chat-frame')).backgroundColor"
    assert page.evaluate(surface) == LIGHT
    page.evaluate("document.documentElement.className = 'dark'")
    assert page.evaluate(surface) == DARK
