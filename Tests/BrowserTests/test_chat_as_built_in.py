"""`<signalbox-chat>` as a built-in element: its upgrade, its style, and every place that a page has for it.

The ideas are those of the published best practices for custom elements, and of the tests "custom elements everywhere".
`element-attributes.test.js` has what needs no browser: properties, reflection and events.
"""

import pytest
from application import Application
from chat_element import FAKE_SESSION, element, expect_messages, expect_state
from conftest import room_access
from playwright.sync_api import expect

@pytest.fixture
def open_script(open_page, url):
    """Opens a page of another origin with the script, without a policy."""
    applications = []

    def open_script(content="", script=True):
        head = '<title>App</title><link rel="icon" href="data:,">'
        tag = f'<script src="{url}/signalbox-chat.js"></script>' if script else ""
        html = f'<!doctype html><html lang="en">{head}{tag}<body>{content}</body>'
        applications.append(Application(html))
        return open_page(applications[-1].url, is_warm=True)

    yield open_script
    for application in applications:
        application.stop()


def test_properties_set_before_the_definition_have_their_effect(open_script, url):
    page = open_script(script=False)
    page.evaluate(
        """() => {
             window.make = () => {
               const chat = document.createElement('signalbox-chat');
               Object.assign(chat, { placeholder: 'Say it', maxLength: 7, draft: 'early', look: 'opentok', hidden: true });
               // A program may try to set what can only be read.
               return Object.assign(chat, { state: 'wrong', unreadCount: 9 });
             };
             window.inside = make();
             window.outside = make();
             document.body.append(inside);
           }"""
    )
    page.add_script_tag(url=f"{url}/signalbox-chat.js")
    page.evaluate("customElements.upgrade(outside); document.body.append(outside)")
    for name in ("inside", "outside"):
        assert page.evaluate(
            "(chat) => [chat.placeholder, chat.maxLength, chat.draft, chat.state, chat.unreadCount, Object.keys(chat),"
            " getComputedStyle(chat).display, chat.getAttribute('max-length'), chat.getAttribute('look')]",
            page.evaluate_handle(name),
        ) == ["Say it", 7, "early", "disconnected", 0, [], "none", "7", "opentok"], name


def test_the_page_s_style_wins_and_hidden_hides(open_script):
    style = "<style>.inline { display: inline-block; height: 90px }</style>"
    page = open_script(f"{style}<signalbox-chat id=chat></signalbox-chat>")
    display = "getComputedStyle(chat).display"
    assert page.evaluate(display) == "flex"
    page.evaluate("chat.className = 'inline'")
    assert page.evaluate(f"[{display}, chat.offsetHeight]") == ["inline-block", 90]
    page.evaluate("() => { chat.className = ''; chat.hidden = true; }")
    assert page.evaluate(display) == "none"


# Places: code that makes an element with the id `chat` in them, from the element that `make()` returns.
PLACES = {
    "the page": "document.body.append(make());",
    "markup": "document.body.innerHTML = make().outerHTML;",
    "a template": """
        const template = document.createElement('template');
        template.innerHTML = make().outerHTML;
        document.body.append(template.content.cloneNode(true));""",
    "a template, imported": """
        const template = document.createElement('template');
        template.innerHTML = make().outerHTML;
        document.body.append(document.importNode(template.content, true));""",
    "a clone": "document.body.append(make().cloneNode(true));",
    "a shadow tree of the page": """
        const outer = document.createElement('div');
        document.body.append(outer);
        outer.attachShadow({ mode: 'open' }).append(make());""",
    "a document without a window, and back": """
        const other = document.implementation.createHTMLDocument('');
        const chat = make();
        other.body.append(chat);
        await new Promise((done) => setTimeout(done));
        if (chat.state !== 'disconnected') throw new Error('connects where nobody sees it');
        document.body.append(chat);""",
    "a document of a parser": """
        const parsed = new DOMParser().parseFromString(make().outerHTML, 'text/html');
        document.body.append(document.adoptNode(parsed.body.firstChild));""",
    "a frame": """
        const frame = document.createElement('iframe');
        frame.width = 600;
        frame.height = 500;
        document.body.append(frame);
        frame.contentDocument.body.append(make());""",
    "a frame, and back": """
        const frame = document.createElement('iframe');
        document.body.append(frame);
        const chat = make();
        frame.contentDocument.body.append(chat);
        document.body.append(chat);""",
    "an SVG image in the page": """
        document.body.innerHTML = '<svg width="600" height="500"><foreignObject width="600" height="500"/></svg>';
        document.querySelector('foreignObject').append(make());""",
    "moved, removed and inserted again": """
        const chat = make();
        const box = document.createElement('div');
        document.body.append(chat, box);
        box.append(chat);
        chat.remove();
        await new Promise((done) => setTimeout(done));
        box.prepend(chat);""",
    "mounted twice, as in StrictMode": """
        const chat = make();
        document.body.append(chat);
        chat.remove();
        document.body.append(chat);""",
    # The last one: the page loses its title and its icon.
    "a document that is opened again": """
        document.body.append(make());
        const { outerHTML } = make();
        document.open();
        document.write(`<!doctype html><html lang="en"><body>${outerHTML}</body></html>`);
        document.close();""",
}


# Finds the element in the page, in its shadow trees and in its frames.
FIND = """
  const find = (root) => {
    for (const each of root.querySelectorAll('*')) {
      if (each.localName === 'signalbox-chat') return each;
      const found = each.shadowRoot && find(each.shadowRoot);
      if (found) return found;
      const inFrame = each.localName === 'iframe' && find(each.contentDocument);
      if (inFrame) return inFrame;
    }
    return null;
  };
  return find(document);
"""


def test_the_element_works_wherever_a_page_can_put_it(open_script, url, room):
    """In one page, one place after the other. A room of its own shows no earlier messages."""
    page = open_script()
    for number, (place, code) in enumerate(PLACES.items()):
        given = room_access(url, f"{room}-{number}", data="Ada")
        page.evaluate(
            """async (given) => {
                 document.body.replaceChildren();
                 const make = () => {
                   const chat = document.createElement('signalbox-chat');
                   chat.id = 'chat';
                   chat.setAttribute('session', given.sessionId);
                   chat.setAttribute('api-key', given.apiKey);
                   chat.setAttribute('token', given.token);
                   return chat;
                 };
                 PLACE
                 window.placed = (() => { FIND })();
               }""".replace("PLACE", code).replace("FIND", FIND),
            given,
        )
        page.wait_for_function("() => placed.state === 'connected'")
        frame = next(each for each in page.frames if each.locator("#chat").count() > 0)
        box = frame.locator("#composer-text")
        box.press_sequentially(place)
        box.press("Enter")
        expect(frame.locator("#chat .bubble")).to_have_text(place)
        # The style has its effect: the bubble of the user is at the end, with a colour.
        colour = frame.locator("#chat .bubble").evaluate("(bubble) => getComputedStyle(bubble).backgroundColor")
        assert colour != "rgba(0, 0, 0, 0)", place
        assert page.evaluate("getComputedStyle(placed).display") == "flex", place


def test_the_element_works_in_a_document_that_is_no_html(open_page, access, url):
    page = open_page("about:blank")
    given = element(access("Ada"), server=url, xmlns="http://www.w3.org/1999/xhtml")
    image = f"""<svg xmlns="http://www.w3.org/2000/svg" width="600" height="500">
                  <foreignObject width="600" height="500">{given}</foreignObject>
                  <script href="{url}/signalbox-chat.js"/></svg>"""
    application = Application(image, "image/svg+xml")
    try:
        page.goto(application.url)
        expect_state(page, "connected")
        box = page.locator("#composer-text")
        box.press_sequentially("hello")
        box.press("Enter")
        expect_messages(page, "hello")
    finally:
        application.stop()


def test_a_frame_that_is_removed_takes_the_user_out_of_the_session(open_script, open_host, access):
    bob = open_host(element(access("Bob")))
    expect_state(bob, "connected")
    page = open_script()
    page.evaluate(
        """(given) => {
             window.frame = document.createElement('iframe');
             document.body.append(frame);
             window.placed = document.createElement('signalbox-chat');
             Object.assign(placed, { session: given.sessionId, apiKey: given.apiKey, token: given.token });
             frame.contentDocument.body.append(placed);
           }""",
        access("Ada"),
    )
    page.wait_for_function("() => placed.state === 'connected'")
    page.evaluate("frame.remove()")
    page.wait_for_function("() => placed.state === 'disconnected'")
    # The element may be used again.
    page.evaluate("document.body.append(placed)")
    page.wait_for_function("() => placed.state === 'connected'")


def test_an_element_in_a_window_of_its_own_shows_messages(open_script, access, open_host):
    """As a page that pops its chat out."""
    bob = open_host(element(access("Bob")))
    page = open_script(element(access("Ada")))
    for each in (page, bob):
        expect_state(each, "connected")
    with page.expect_popup() as opened:
        page.evaluate("window.chat = document.getElementById('chat')")
        page.evaluate("window.popped = open('about:blank', '', 'width=500,height=500')")
    popup = opened.value
    page.evaluate("popped.document.body.append(chat)")
    bob.evaluate("chat.component.setDraft('to the window'); chat.component.send(Date.now(), 'x')")
    expect(popup.locator("#chat .bubble")).to_have_text("to the window")
    popup.locator("#composer-text").press_sequentially("back")
    popup.locator("#composer-text").press("Enter")
    expect_messages(bob, "to the window", "back")
    popup.close()
    page.wait_for_function("() => chat.state === 'disconnected'")


def test_on_paper_the_messages_are_not_cut_off(open_script):
    page = open_script("<signalbox-chat id=chat></signalbox-chat>")
    page.evaluate(FAKE_SESSION)
    page.evaluate(
        """() => {
             const session = fakeSession('room');
             chat.attach(session);
             for (let seq = 1; seq <= 30; seq += 1) {
               const data = JSON.stringify({ text: `number ${seq}` });
               session.emit('signal', { type: 'signal:text-chat', data, from: { connectionId: 'b', data: 'Bob' }, seq });
             }
           }"""
    )
    expect(page.locator("#chat .bubble")).to_have_count(30)
    page.emulate_media(media="print")
    assert page.evaluate(
        """() => {
             const end = chat.getBoundingClientRect().bottom;
             const [first, last] = [0, 29].map((at) => chat.shadowRoot.querySelectorAll('.bubble')[at]);
             const top = chat.getBoundingClientRect().top;
             return first.getBoundingClientRect().top >= top && last.getBoundingClientRect().bottom <= end;
           }"""
    )
    expect(page.locator("#composer")).to_be_hidden()
