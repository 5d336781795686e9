"""`<signalbox-chat>` in frameworks: attributes, properties, React, Vue, and pages that are rendered on a server."""

import itertools
import json
import os
import re
import subprocess

import pytest
from application import Application
from chat_element import expect_messages, expect_state, send
from conftest import DEADLINE, REPOSITORY
from playwright.sync_api import expect

pytestmark = pytest.mark.reads(
    "docs/chat-element.md", "web-test-client/chat", "web-test-client/text-chat", "scripts/builds/web",
    "Tests/BrowserTests/test_chat_frameworks.py", "Tests/BrowserTests/chat_element.py",
)  # fmt: skip

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


@pytest.mark.smoke
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
