"""1,000 hostile addresses, names, shortcodes and texts in messages, with everything on that shows more than text."""

import itertools
import json

from chat_element import element, expect_state
from conftest import REPOSITORY

TEXTS = json.loads((REPOSITORY / "Tests/Vectors/hostile/texts.json").read_text())["texts"]

SCRIPT = "window.broken=1"
ADDRESSES = [
    f"javascript:{SCRIPT}", f"JaVaScRiPt:{SCRIPT}", f" javascript:{SCRIPT}", f"java\tscript:{SCRIPT}", f"java\nscript:{SCRIPT}",
    f"\x01javascript:{SCRIPT}", f"javascript&colon;{SCRIPT}", f"vbscript:{SCRIPT}", f"data:text/html,<script>{SCRIPT}</script>",
    f"data:image/svg+xml,<svg onload={SCRIPT}>", "blob:https://a.example/1", "file:///etc/passwd", "http://a.example/a.png",
    "//a.example/a.png", "/a.png", "https:", "https://", "https://a:b@c.example/a.png", "https://a.example\\@b.example/a.png",
    f"https://a.example/\"onerror=\"{SCRIPT}", f"https://a.example/'><img src=x onerror={SCRIPT}>", "https://a.example/\u202egnp.a",
    "https://xn--pple-43d.com/", "https://\u0430pple.com/", "https://[::1]/", "https://a.example:99999/", "ftp://a.example/", "",
    f"view-source:javascript:{SCRIPT}", "https://a.example/" + "a" * 3000,
]  # fmt: skip
NAMES = [
    "photo\u202egnp.exe", f"<img src=x onerror={SCRIPT}>.png", f'"><script>{SCRIPT}</script>', "a" * 4000, "\0.png", "\u200b", "..",
    "../../etc/passwd", f"javascript:{SCRIPT}", "\ud83d.png", f"${{{SCRIPT}}}", f"{{{{{SCRIPT}}}}}", "&lt;b&gt;", "a\nb\rc", "__proto__",
]  # fmt: skip
TYPES = ["image/png", "image/svg+xml", "text/html", f'image/png" onerror="{SCRIPT}', "IMAGE/GIF", "", "application/javascript"]
SIZES = [0, -1, 1e308, "7", None, [1], {"a": 1}]
MARKS = ["*", "**", "_", "`", "```\n", "- ", "1. ", "[a](", "![a](", "<", "&", "</p>", ":", "::", ":smile:", ":__proto__:", ":constructor:"]
INNER = [
    f"<img src=x onerror={SCRIPT}>", f"javascript:{SCRIPT}", f"[x](javascript:{SCRIPT})", f"![x](https://tracker.example/a.png)",
    f"<a href='javascript:{SCRIPT}'>x</a>", f"<svg/onload={SCRIPT}>", f"https://a.example/*{SCRIPT}*", "</code></pre><b>x</b>",
]  # fmt: skip


def corpus():
    """The same 1,000 messages each time."""
    files = [
        {"text": name, "data": {"file": {"url": url, "name": name, "type": kind, "size": size, "width": size, "height": 9}}}
        for (url, name), kind, size in zip(itertools.product(ADDRESSES, NAMES), itertools.cycle(TYPES), itertools.cycle(SIZES))
    ]
    cards = [
        {"text": f"see {url} {name}", "data": {"card": {"url": url, "title": name, "text": name, "image": image}}}
        for url, name, image in zip(itertools.cycle(ADDRESSES), itertools.cycle(NAMES), ADDRESSES[::-1] * 4)
    ]
    marked = [{"text": f"{mark}{inner}{mark}"} for mark in MARKS for inner in INNER]
    rest = [{"text": text} for text in TEXTS] + [
        {"text": f"{mark}{text}{mark}"} for mark, text in itertools.product(MARKS, TEXTS)
    ]
    made = files + cards + marked + rest
    return [message for message in made if len(json.dumps(message)) < 8000][:1000]


def test_no_message_runs_a_script_links_to_one_or_loads_what_the_page_has_not_named(open_with_policy, access):
    messages = corpus()
    assert len(messages) == 1000
    tag = element(access("Ada"), markup="on")
    page = open_with_policy("img-src * data: blob:; script-src 'unsafe-inline' *", tag)
    expect_state(page, "connected")
    asked, dialogs = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: dialogs.append(dialog) or dialog.dismiss())
    page.evaluate(
        """() => {
             window.resolved = [];
             chat.customize({
               // A page that names no address, whatever it is asked for.
               resolve: (url) => { window.resolved.push(url); return null; },
               upload: async () => ({}), preview: async () => ({}),
             });
           }"""
    )
    page.wait_for_function("() => chat.shadowRoot.querySelector('.composer-strip') !== null")
    asked.clear()
    bad = []
    # So many as all have elements.
    for start in range(0, len(messages), 200):
        page.evaluate(
            """([messages, start]) => {
                 for (const [index, content] of messages.entries()) {
                   chat.component.handle({ kind: 'signal', type: 'text-chat', data: JSON.stringify(content),
                     seq: 1000 + start + index, from: { connectionId: 'mallory', data: 'Mallory' } }, Date.now());
                 }
               }""",
            [messages[start : start + 200], start],
        )
        # Two frames: the rows of the first have their elements in the second.
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        bad += page.evaluate(
            """() => [...chat.shadowRoot.querySelectorAll('#messages *')].filter((each) =>
                 /^(script|iframe|object|embed|form|style|link|base|meta)$/.test(each.localName)
                 || [...each.attributes].some(({ name }) => /^on|^srcdoc$/.test(name))
                 || (each.localName === 'a' && each.hasAttribute('href')
                     && !/^(https?|mailto):$/.test(new URL(each.href, 'x:').protocol))
                 || (each.localName === 'img' && each.hasAttribute('src'))).map((each) => each.outerHTML.slice(0, 300))"""
        )
    assert bad == []
    assert (asked, dialogs) == ([], [])
    assert page.evaluate("window.broken") is None
    # The page was asked, with addresses of https: only.
    resolved = page.evaluate("window.resolved")
    assert resolved and all(address.startswith("https://") for address in resolved)
    page.complaints.clear()


def test_no_shortcode_inserts_anything_but_an_emoji(open_host, access):
    page = open_host(element(access("Ada")))
    expect_state(page, "connected")
    field = page.locator("#composer-text")
    field.fill(":smile:")
    page.wait_for_function("() => chat.shadowRoot.getElementById('composer-text').value === '😄'")
    wrong = [":__proto__:", ":constructor:", ":toString:", ":hasOwnProperty:", ":<b>:", ":javascript:", ":a" + "a" * 3000 + ":"]
    for text in wrong:
        field.fill(text)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        assert field.input_value() == text
