"""`<signalbox-chat>` in frameworks: attributes, properties, React, Vue, and pages that are rendered on a server."""

import itertools
import json
import os
import re
import subprocess

import pytest
from application import Application
from chat_element import SETUP_MILLISECONDS, expect_messages, expect_state, send
from conftest import DEADLINE, REPOSITORY
from playwright.sync_api import expect

DOCUMENT = (REPOSITORY / "docs/chat-element.md").read_text()
WEB = REPOSITORY / "web-test-client"
# Debian's folder of packages: node-react and node-react-dom.
PACKAGES = "/usr/share/nodejs"


def snippet(heading, language):
    section = DOCUMENT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.search(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[1]


def tag(**attributes):
    text = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<signalbox-chat id="chat" {text}></signalbox-chat>'


@pytest.fixture
def open_empty(open_page):
    """Opens a page of another origin, without the script."""
    applications = []

    def open_empty(content=""):
        applications.append(
            Application(f'<!doctype html><html lang="en"><title>App</title><body><main>{content}</main></body></html>')
        )
        return open_page(applications[-1].url)

    yield open_empty
    for application in applications:
        application.stop()


# The key


@pytest.mark.parametrize("keys", [
    {"api_key": "GOOD"}, {"key": "GOOD"}, {"api_key": "GOOD", "key": "200"}, {"key": "GOOD", "api_key": " "},
])  # fmt: skip
def test_the_key_is_the_api_key_or_without_one_the_key(open_host, access, keys):
    good = access("Ada")
    given = {name: value.replace("GOOD", good["apiKey"]) for name, value in keys.items()}
    page = open_host(tag(session=good["sessionId"], token=good["token"], **given))
    expect_state(page, "connected")
    assert page.evaluate("chat.apiKey") == good["apiKey"]


def test_a_key_that_the_api_key_hides_may_change_without_a_new_connection(open_host, access):
    good = access("Ada")
    page = open_host(tag(session=good["sessionId"], token=good["token"], api_key=good["apiKey"]))
    expect_state(page, "connected")
    states = page.evaluate(
        """async () => {
             const states = [];
             chat.addEventListener('signalbox-state', ({ detail }) => states.push(detail.state));
             chat.setAttribute('key', '200');
             chat.setAttribute('key', chat.apiKey);
             chat.removeAttribute('api-key');
             await new Promise((done) => setTimeout(done));
             return states;
           }"""
    )
    assert states == []
    page.clock.install()
    page.evaluate("chat.removeAttribute('key')")
    page.clock.run_for(SETUP_MILLISECONDS)
    expect_state(page, "failed")
    expect(page.locator("#chat-status")).to_contain_text("it lacks api-key")
    # The programmer reads why.
    assert page.complaints == ["<signalbox-chat>: The chat cannot connect: it lacks api-key."]
    page.complaints.clear()


def test_a_server_alone_is_no_wish_to_connect(open_host, access, url):
    """Frameworks render the tag before they have a token."""
    page = open_host()
    page.evaluate(
        """async (server) => {
             window.events = [];
             const note = ({ detail }) => events.push(detail.state ?? detail.message);
             for (const name of ['state', 'error']) document.addEventListener(`signalbox-${name}`, note);
             document.body.append(Object.assign(document.createElement('signalbox-chat'), { id: 'chat', server }));
             await new Promise((done) => setTimeout(done));
           }""",
        url,
    )
    assert page.evaluate("[chat.state, events]") == ["disconnected", []]
    good = access("Ada")
    page.evaluate(
        "({ sessionId: session, apiKey, token }) => { Object.assign(chat, { session, apiKey, token }); }", good
    )
    expect_state(page, "connected")
    assert page.evaluate("events") == ["connecting", "connected"]


def test_without_a_known_server_the_element_asks_for_one(open_host, access):
    good = access("Ada")
    page = open_host()
    page.clock.install()
    # As in a program whose bundler has the element in it.
    page.evaluate(
        """({ sessionId: session, apiKey, token }) => {
             customElements.get('signalbox-chat').defaultServer = null;
             const given = { id: 'chat', session, apiKey, token };
             document.body.append(Object.assign(document.createElement('signalbox-chat'), given));
           }""",
        good,
    )
    page.clock.run_for(SETUP_MILLISECONDS)
    expect_state(page, "failed")
    expect(page.locator("#chat-status-text")).to_have_text("This chat is not set up yet: it lacks server.")
    assert page.complaints == ["<signalbox-chat>: The chat cannot connect: it lacks server."]
    page.complaints.clear()


def test_a_browser_without_a_socket_gets_one_sentence_about_it(open_host, access):
    good = access("Ada")
    page = open_host()
    page.evaluate(
        """({ sessionId: session, apiKey, token }) => {
             window.WebSocket = undefined;
             const given = { id: 'chat', session, apiKey, token };
             addEventListener('signalbox-error', ({ detail }) => (window.detail = detail));
             document.body.append(Object.assign(document.createElement('signalbox-chat'), given));
           }""",
        good,
    )
    expect_state(page, "failed")
    sentence = re.compile(r"^This JavaScript runtime has no WebSocket\. .*[^.]\.$")
    assert sentence.match(page.evaluate("detail.message"))
    expect(page.locator("#chat-status-text")).to_have_text("This browser is too old for this chat. Use a newer one.")
    page.complaints.clear()


# Properties

STEPS = {
    "set": """Object.assign(chat, {
        session: given.sessionId, apiKey: given.apiKey, token: given.token, alias: 'Countess', senderId: 'ada-1',
        maxLength: 20, look: 'opentok', scheme: 'dark', placeholder: 'Say it', isTypingShown: false, draft: 'early',
        wireForm: 'TextChat',
      });""",
    "insert": "document.querySelector('main').append(chat);",
    "load": """await new Promise((done, fail) => {
        const script = Object.assign(document.createElement('script'), { src: `${server}/signalbox-chat.js` });
        Object.assign(script, { onload: done, onerror: fail });
        document.head.append(script);
      });""",
}


@pytest.mark.parametrize("order", [*itertools.permutations(STEPS)], ids="-".join)
def test_properties_count_whenever_they_are_set(open_empty, access, url, order):
    page = open_empty()
    page.evaluate(
        """async ({ given, server }) => {
             window.states = [];
             document.addEventListener('signalbox-state', ({ detail }) => states.push(detail.state));
             const chat = document.createElement('signalbox-chat');
             chat.id = 'chat';
             STEPS
           }""".replace("STEPS", "\n".join(STEPS[name] for name in order)),
        {"given": access("Ada"), "server": url},
    )
    expect_state(page, "connected")
    assert page.evaluate("states") == ["connecting", "connected"]
    assert page.evaluate("Object.keys(chat)") == []
    names = ["alias", "senderId", "maxLength", "look", "scheme", "placeholder", "isTypingShown", "draft", "wireForm"]
    assert page.evaluate("(names) => names.map((name) => chat[name])", names) == [
        "Countess", "ada-1", 20, "opentok", "dark", "Say it", False, "early", "TextChat",
    ]  # fmt: skip
    box = page.locator("#composer-text")
    expect(box).to_have_value("early")
    expect(box).to_have_attribute("placeholder", "Say it")
    expect(page.locator("#remaining")).to_have_text("15 characters left")
    assert page.evaluate("[chat.component.wireForm, chat.component.typing.isOptedOut]") == ["TextChat", True]
    box.press("Enter")
    page.wait_for_function("() => chat.messages.length === 1")
    assert page.evaluate("chat.messages.map(({ text, senderId }) => [text, senderId])") == [["early", "ada-1"]]


def test_a_property_without_a_value_has_its_default_again(open_host):
    page = open_host("<signalbox-chat id='chat'></signalbox-chat>")
    assert page.evaluate(
        """() => {
             const names = ['session', 'apiKey', 'token', 'server', 'alias', 'senderId', 'maxLength', 'look', 'scheme',
               'placeholder', 'isTypingShown', 'draft', 'wireForm', 'typingPolicy', 'strings'];
             const values = {
               maxLength: 5, isTypingShown: false, look: 'opentok', wireForm: 'TextChat',
               typingPolicy: { ...chat.typingPolicy },
             };
             const before = Object.fromEntries(names.map((name) => [name, chat[name]]));
             const unset = () => names.filter((name) => chat[name] === before[name]);
             const rounds = [];
             for (const nothing of [undefined, null]) {
               for (const name of names) chat[name] = values[name] ?? 'x';
               rounds.push(unset());
               for (const name of names) chat[name] = nothing;
               rounds.push(names.filter((name) => !unset().includes(name)));
             }
             return [rounds, chat.getAttributeNames()];
           }"""
    ) == [[[], [], [], []], ["id"]]
    # The element tells the programmer that it was asked to connect without anything to connect with.
    page.complaints.clear()


# What each framework does with the names in a template. React up to 18 sets attributes. React 19 and Vue 3 set a
# property if the element has one. Vue 3 sets the empty text in place of null where the property is a text, and removes
# the attribute of that name.
FRAMEWORKS = {
    "React 18": """(element, name, value) =>
        value === undefined || value === null ? element.removeAttribute(name) : element.setAttribute(name, value)""",
    "React 19": """(element, name, value) => {
        if (name in element) element[name] = value;
        else if (value === undefined || value === null) element.removeAttribute(name);
        else element.setAttribute(name, value);
      }""",
    "Vue 3": """(element, name, value) => {
        if (name in element) {
          const isText = (value ?? null) === null && typeof element[name] === 'string';
          element[name] = isText ? '' : value;
          if (isText) element.removeAttribute(name);
        } else if ((value ?? null) === null) element.removeAttribute(name);
        else element.setAttribute(name, value);
      }""",
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("script", ["first", "last"])
def test_a_template_renders_updates_and_removes(open_empty, access, url, framework, script):
    """The names are those of the document's template for Vue."""
    names = re.findall(r"^    :([\w-]+)=", snippet("Vue", "vue"), re.MULTILINE)
    assert names == ["server", "session", "api-key", "token"]
    page = open_empty()
    if script == "first":
        page.add_script_tag(url=f"{url}/signalbox-chat.js")
    ada, carol = access("Ada"), access("Carol")
    page.evaluate(
        """({ names, server }) => {
             window.render = ({ sessionId, apiKey, token }, others) => {
               const values = { server, session: sessionId, 'api-key': apiKey, token };
               for (const name of names) set(chat, name, values[name]);
               for (const [name, value] of Object.entries(others)) set(chat, name, value);
             };
             const set = SET;
             window.chat = document.createElement('signalbox-chat');
             chat.id = 'chat';
           }""".replace("SET", FRAMEWORKS[framework]),
        {"names": names, "server": url},
    )
    # A framework gives the values before the element is in the page.
    page.evaluate("(access) => { render(access, { alias: 'A', 'max-length': 7 }); document.body.append(chat); }", ada)
    if script == "last":
        page.add_script_tag(url=f"{url}/signalbox-chat.js")
    expect_state(page, "connected")
    assert page.evaluate("[chat.alias, chat.maxLength]") == ["A", 7]
    before = page.evaluate("chat.component.channel.connectionId")
    page.evaluate("(access) => render(access, { alias: null, 'max-length': null })", carol)
    page.wait_for_function(
        "(before) => ![null, undefined, before].includes(chat.component.channel?.connectionId)", arg=before
    )
    assert page.evaluate("[chat.alias || null, chat.maxLength]") == [None, 1000]
    page.evaluate("chat.remove()")
    page.wait_for_function("() => chat.state === 'disconnected'")


# React, as Debian has it


def bundle(folder, name, source, *options):
    """Bundles a module with the document's component for React beside it."""
    (folder / "chat.jsx").write_text(snippet("React", "jsx"))
    (folder / name).write_text(source)
    subprocess.run(
        ["esbuild", "--bundle", "--jsx=automatic", f"--alias:signalbox-client/chat={WEB / 'chat/index.js'}",
         '--define:process.env.NODE_ENV="development"', f"--outfile={folder / 'bundle.cjs'}", *options, name],
        cwd=folder, env=os.environ | {"NODE_PATH": PACKAGES}, check=True, timeout=DEADLINE,
    )  # fmt: skip
    return folder / "bundle.cjs"


IN_A_PAGE = """
import { StrictMode } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { Chat } from './chat.jsx';

const main = document.querySelector('main');
const app = (props) => <StrictMode><Chat {...props} onUnread={(count) => window.counts.push(count)} /></StrictMode>;
window.counts = [];
let root;
window.render = (props) => (root ??= createRoot(main)).render(app(props));
window.hydrate = (props) => hydrateRoot(main, <Chat {...props} onUnread={() => {}} />);
window.unmount = () => root.unmount();
"""


def test_the_component_for_react_connects_updates_hears_events_and_leaves(open_empty, open_host, access, url, tmp_path):
    page = open_empty()
    page.add_script_tag(path=bundle(tmp_path, "app.jsx", IN_A_PAGE, "--format=iife", "--log-level=error"))
    # React asks developers to install its tools.
    page.complaints.clear()
    page.evaluate("(props) => render(props)", {"server": url, "access": access("Ada")})
    page.wait_for_function("() => document.querySelector('signalbox-chat')?.state === 'connected'")
    page.evaluate("window.chat = document.querySelector('signalbox-chat'); chat.id = 'chat'")
    good = access("Bob")
    bob = open_host(tag(session=good["sessionId"], api_key=good["apiKey"], token=good["token"]))
    expect_state(bob, "connected")
    page.evaluate("document.querySelector('main').hidden = true")
    page.wait_for_function("() => !chat.component.isVisible")
    send(bob, "hello React")
    page.wait_for_function("() => counts.at(-1) === 1")
    expect_messages(page, "hello React")
    before = page.evaluate("chat.component.channel.connectionId")
    page.evaluate("(props) => render(props)", {"server": url, "access": access("Carol")})
    page.wait_for_function(
        "(before) => ![null, undefined, before].includes(chat.component.channel?.connectionId)", arg=before
    )
    page.evaluate("unmount()")
    page.wait_for_function("() => chat.state === 'disconnected'")


ON_A_SERVER = """
import { chatPage } from './page.jsx';
const { server, access } = JSON.parse(process.argv[2]);
console.log(chatPage(server, access));
"""


def test_a_page_rendered_on_a_server_becomes_a_chat_with_and_without_react(open_empty, access, url, tmp_path):
    props = {"server": url, "access": access("Ada")}
    (tmp_path / "page.jsx").write_text(snippet("Server-side rendering", "jsx"))
    # esbuild reports that a server has no address of a module in this format: the element gets the attribute `server`.
    program = bundle(tmp_path, "server.jsx", ON_A_SERVER, "--platform=node", "--format=cjs", "--log-level=error")
    rendered = subprocess.run(
        ["node", program, json.dumps(props)], capture_output=True, text=True, check=True, timeout=DEADLINE
    ).stdout.strip()
    assert rendered.startswith(f'<signalbox-chat server="{url}" session="')
    page = open_empty(rendered)
    page.add_script_tag(url=f"{url}/signalbox-chat.js")
    page.wait_for_function("() => document.querySelector('signalbox-chat').state === 'connected'")
    # React takes the same element over, and defines it no second time.
    page.evaluate("window.chat = document.querySelector('signalbox-chat')")
    before = page.evaluate("chat.component.channel.connectionId")
    page.add_script_tag(path=bundle(tmp_path, "app.jsx", IN_A_PAGE, "--format=iife", "--log-level=error"))
    page.evaluate("(props) => hydrate(props)", props)
    # React marks an element that it has taken over.
    page.wait_for_function("() => Object.keys(chat).some((name) => name.startsWith('__reactProps'))")
    assert page.evaluate("document.querySelector('signalbox-chat') === chat")
    assert page.evaluate("chat.component.channel.connectionId") == before
    assert [each for each in page.complaints if "DevTools" not in each] == []


def test_a_page_may_load_the_element_twice(open_page, url):
    application = Application(f"<!doctype html><title>Twice</title>{tag()}")
    try:
        page = open_page(application.url)
        for _ in range(2):
            page.add_script_tag(url=f"{url}/signalbox-chat.js")
        assert page.evaluate(
            """async (url) => {
                 const { SignalboxChat } = await import(`${url}/chat/index.js`);
                 return [chat instanceof SignalboxChat, new SignalboxChat().state, SignalboxChat.defaultServer === url];
               }""",
            url,
        ) == [True, "disconnected", True]
        page.complaints = [each for each in page.complaints if "favicon" not in each]
    finally:
        application.stop()
