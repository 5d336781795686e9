"""`<signalbox-chat>` as a built-in element: properties, reflection, events, and every place that a page has for it.

The ideas are those of the published best practices for custom elements, and of the tests "custom elements everywhere".
"""

import pytest
from application import Application
from chat_element import FAKE_SESSION, element, expect_messages, expect_state
from playwright.sync_api import expect

# Property, attribute, a value, its text in the attribute, and the value of the property without the attribute.
REFLECTED = [
    ("session", "session", "s", "s", None), ("apiKey", "api-key", "100", "100", None),
    ("token", "token", "t", "t", None), ("server", "server", "https://a.example", "https://a.example", None), ("alias", "alias", "Ada", "Ada", None),
    ("senderId", "sender-id", "ada", "ada", None), ("maxLength", "max-length", 7, "7", 1000),
    ("look", "look", "opentok", "opentok", "bubbles"), ("scheme", "scheme", "dark", "dark", None),
    ("placeholder", "placeholder", "Say it", "Say it", None), ("isTypingShown", "typing", False, "off", True),
]  # fmt: skip


@pytest.fixture
def open_script(open_page, url):
    """Opens a page of another origin with the script, without a policy."""
    applications = []

    def open_script(content="", script=True):
        head = '<title>App</title><link rel="icon" href="data:,">'
        tag = f'<script src="{url}/signalbox-chat.js"></script>' if script else ""
        html = f'<!doctype html><html lang="en">{head}{tag}<body>{content}</body>'
        applications.append(Application(html))
        return open_page(applications[-1].url)

    yield open_script
    for application in applications:
        application.stop()


@pytest.mark.parametrize("property, attribute, value, text, default", REFLECTED)
def test_each_property_is_reflected_both_ways_and_none_removes_the_attribute(
    open_script, property, attribute, value, text, default
):
    page = open_script()
    assert page.evaluate(
        """([property, attribute, value, text]) => {
             const chat = document.createElement('signalbox-chat');
             const seen = [chat[property]];
             chat[property] = value;
             seen.push(chat.getAttribute(attribute));
             chat.removeAttribute(attribute);
             seen.push(chat[property]);
             chat.setAttribute(attribute, text);
             seen.push(chat[property]);
             for (const nothing of [null, undefined, false]) {
               if (nothing === false && value === false) continue;
               chat[property] = value;
               chat[property] = nothing;
               seen.push(chat.hasAttribute(attribute));
             }
             return seen;
           }""",
        [property, attribute, value, text],
    ) == [default, text, default, value, False, False, *([] if value is False else [False])]


def test_a_new_element_has_no_attributes_no_content_and_no_members_of_its_own(open_script):
    page = open_script()
    assert page.evaluate(
        """() => {
             const made = [document.createElement('signalbox-chat'), new (customElements.get('signalbox-chat'))()];
             return made.map((each) => [each.attributes.length, each.childNodes.length, Object.keys(each).length]);
           }"""
    ) == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("is_inside", [True, False])
def test_properties_set_before_the_definition_have_their_effect(open_script, url, is_inside):
    page = open_script(script=False)
    page.evaluate(
        """(isInside) => {
             window.chat = document.createElement('signalbox-chat');
             chat.id = 'chat';
             if (isInside) document.body.append(chat);
             Object.assign(chat, { placeholder: 'Say it', maxLength: 7, draft: 'early', look: 'opentok', hidden: true });
             // A program may try to set what can only be read.
             Object.assign(chat, { state: 'wrong', unreadCount: 9 });
           }""",
        is_inside,
    )
    page.add_script_tag(url=f"{url}/signalbox-chat.js")
    if not is_inside:
        page.evaluate("customElements.upgrade(chat); document.body.append(chat)")
    assert page.evaluate(
        "[chat.placeholder, chat.maxLength, chat.draft, chat.state, chat.unreadCount, Object.keys(chat),"
        " getComputedStyle(chat).display, chat.getAttribute('max-length'), chat.getAttribute('look')]"
    ) == ["Say it", 7, "early", "disconnected", 0, [], "none", "7", "opentok"]


def test_the_page_s_style_wins_and_hidden_hides(open_script):
    style = "<style>.inline { display: inline-block; height: 90px }</style>"
    page = open_script(f"{style}<signalbox-chat id=chat></signalbox-chat>")
    display = "getComputedStyle(chat).display"
    assert page.evaluate(display) == "flex"
    page.evaluate("chat.className = 'inline'")
    assert page.evaluate(f"[{display}, chat.offsetHeight]") == ["inline-block", 90]
    page.evaluate("() => { chat.className = ''; chat.hidden = true; }")
    assert page.evaluate(display) == "none"


def test_changes_by_the_page_fire_no_events(open_script):
    page = open_script("<signalbox-chat id=chat></signalbox-chat>")
    assert page.evaluate(
        """async () => {
             const seen = [];
             for (const name of ['state', 'message', 'send', 'unread', 'error']) {
               document.addEventListener(`signalbox-${name}`, ({ type }) => seen.push(type));
             }
             for (const name of ['input', 'change', 'focusin']) {
               document.addEventListener(name, ({ type }) => seen.push(type));
             }
             Object.assign(chat, { draft: 'text', alias: 'Ada', maxLength: 2, look: 'opentok', placeholder: 'x' });
             Object.assign(chat, { scheme: 'dark', isTypingShown: false, senderId: 'ada', draft: '' });
             await new Promise((done) => setTimeout(done));
             return seen;
           }"""
    ) == []


def test_events_bubble_leave_shadow_trees_and_only_sending_can_be_cancelled(open_script):
    page = open_script()
    page.evaluate(FAKE_SESSION)
    assert page.evaluate(
        """async () => {
             const outer = document.createElement('div');
             document.body.append(outer);
             const chat = document.createElement('signalbox-chat');
             outer.attachShadow({ mode: 'open' }).append(chat);
             const seen = {};
             for (const name of ['state', 'message', 'send', 'unread']) {
               document.addEventListener(`signalbox-${name}`, ({ bubbles, composed, cancelable, target }) => {
                 seen[name] = [bubbles, composed, cancelable, target === outer];
               });
             }
             const session = fakeSession('room');
             chat.attach(session);
             const data = JSON.stringify({ text: 'hi' });
             outer.hidden = true;
             chat.noteReading();
             const from = { connectionId: 'b', data: 'Bob' };
             session.emit('signal', { type: 'signal:text-chat', data, from, seq: 3 });
             chat.draft = 'mine';
             outer.hidden = false;
             chat.shadowRoot.querySelector('form').requestSubmit();
             await new Promise((done) => setTimeout(done));
             return seen;
           }"""
    ) == {name: [True, True, name == "send", True] for name in ("state", "message", "send", "unread")}


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
    "a document that is opened again": """
        document.body.append(make());
        const { outerHTML } = make();
        document.open();
        document.write(`<!doctype html><html lang="en"><body>${outerHTML}</body></html>`);
        document.close();""",
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
}


@pytest.mark.parametrize("place", PLACES)
def test_the_element_works_wherever_a_page_can_put_it(open_script, access, place):
    page = open_script()
    given = access("Ada")
    page.evaluate(
        """async (given) => {
             const make = () => {
               const chat = document.createElement('signalbox-chat');
               chat.id = 'chat';
               chat.setAttribute('session', given.sessionId);
               chat.setAttribute('api-key', given.apiKey);
               chat.setAttribute('token', given.token);
               return chat;
             };
             PLACE
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
             window.placed = find(document);
           }""".replace("PLACE", PLACES[place]),
        given,
    )
    page.wait_for_function("() => placed.state === 'connected'")
    frame = next(each for each in page.frames if each.locator("#chat").count() > 0)
    box = frame.locator("#composer-text")
    box.press_sequentially("hello")
    box.press("Enter")
    expect(frame.locator("#chat .bubble")).to_have_text("hello")
    # The style has its effect: the bubble of the user is at the end, with a colour.
    colour = frame.locator("#chat .bubble").evaluate("(bubble) => getComputedStyle(bubble).backgroundColor")
    assert colour != "rgba(0, 0, 0, 0)"
    assert page.evaluate("getComputedStyle(placed).display") == "flex"


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
