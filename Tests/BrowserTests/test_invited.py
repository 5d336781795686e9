"""The first minute of somebody who was invited with a link: a room, and not a tool."""

import os
import subprocess

import pytest
from conftest import DEADLINE, Server, environment
from playwright.sync_api import expect
from user import User

KEY, SECRET = "100", "a-secret-of-this-test"
CREDENTIALS = ["--api-key", KEY, "--api-secret", SECRET]
LOOKS = {
    "light": {}, "dark": {"color_scheme": "dark"}, "phone": {"viewport": {"width": 390, "height": 844}},
    "arabic": {"locale": "ar"}, "arabic-phone-dark": {
        "locale": "ar", "color_scheme": "dark", "viewport": {"width": 390, "height": 844}
    },
}  # fmt: skip


def run(*arguments):
    result = subprocess.run(
        [os.environ["SIGNALBOX_BIN"], *arguments, *CREDENTIALS], capture_output=True, text=True, timeout=DEADLINE,
        check=True, env=environment(),
    )  # fmt: skip
    return result.stdout.strip()


@pytest.fixture(scope="module", params=["text-chat", None], ids=["history", "no-history"])
def server(request, require_server):
    history = ["--history", request.param] if request.param else []
    server = Server(*CREDENTIALS, *history, is_development=False)
    server.has_history = request.param is not None
    yield server
    server.stop()


def link(server, session, name, *arguments):
    return run("link", session, "--name", name, "--server", server.url, *arguments)


def joined(page):
    expect(page.locator("#status")).to_have_attribute("data-state", "connected")
    return User(page)


@pytest.mark.parametrize("look", LOOKS)
def test_a_link_opens_a_room(open_page, server, look, screenshots):
    session = run("session", "create", "--label", "Team picnic")
    page = open_page(link(server, session, "Ada"), **LOOKS[look])
    ada = joined(page)
    kind = f"{look}-{'history' if server.has_history else 'plain'}"
    expect(page.locator("#room-name")).to_have_text("Team picnic")
    expect(page).to_have_title("Team picnic")
    for id in ("second", "options-toggle", "inspector-toggle"):
        expect(page.locator(f"#{id}")).to_be_hidden()
    if look == "light":
        empty = "No messages yet.Write the first one." if server.has_history else "You see messages from now on."
        assert page.locator(".empty-hint").evaluate(
            "(hint) => [...hint.children].filter((each) => each.checkVisibility()).map((each) => each.textContent).join('')"
        ) == empty
    page.screenshot(path=screenshots / f"invited-{kind}-1.png")
    bob = joined(open_page(link(server, session, "Bob")))
    bob.send("Hello Ada! Shall we meet at the lake on Saturday?")
    expect(ada.bubble("Hello Ada! Shall we meet at the lake on Saturday?")).to_be_visible()
    ada.send("Yes, at ten.")
    expect(ada.row("Yes, at ten.")).to_have_attribute("data-state", "sent")
    ada.send("I bring the bread.")
    expect(bob.bubble("I bring the bread.")).to_be_visible()
    bob.send("And I bring cheese, fruit and something to drink. Is there shade, or do we need an umbrella for the sun?")
    expect(page.locator("#chat .bubble")).to_have_count(4)
    page.screenshot(path=screenshots / f"invited-{kind}-2.png")
    if page.locator("#more").is_visible():
        page.locator("#more").click()
    # A participant can be clicked.
    page.locator(".participant", has_text="Bob").click()
    item = page.locator("#chat [role=menuitem]").first
    expect(item).to_be_visible()
    page.screenshot(path=screenshots / f"invited-{kind}-3.png")
    item.click()
    expect(page.locator("#composer-text")).to_have_value("@Bob ")
    expect(page.locator("#composer-text")).to_be_focused()


@pytest.mark.parametrize("look", ["light", "phone", "arabic"])
def test_a_used_link_and_the_bare_address_show_one_sentence_and_no_form(open_page, server, look, screenshots):
    if not server.has_history:
        pytest.skip("the same without a history")
    session = run("session", "create")
    address = link(server, session, "Ada")
    for name, given in {"used": address[:-4] + "0000", "root": server.url + "/"}.items():
        page = open_page(given, **LOOKS[look])
        expect(page.locator("#join-hint")).to_be_visible()
        if look == "light":
            sentence = {
                "used": "This link has been used, or it is no longer valid. Ask for a new one.",
                "root": "To open a chat, use the link that you were given.",
            }[name]
            expect(page.locator("#join")).to_have_text(sentence, use_inner_text=True)
        assert page.locator("#join :is(input, textarea, button, select, h2)").evaluate_all(
            "(all) => all.filter((each) => each.checkVisibility()).length"
        ) == 0
        page.screenshot(path=screenshots / f"invited-{name}-{look}.png")
        page.complaints.clear()


def test_developers_find_their_tools_behind_tools(open_page, server, screenshots):
    page = open_page(server.url + "/?tools")
    expect(page.get_by_label("Session ID")).to_be_visible()
    session = run("session", "create", "--label", "Team picnic")
    page = open_page(link(server, session, "Ada").replace("/#", "/?tools#"))
    joined(page)
    expect(page.locator("#room-name")).to_have_text("Team picnic")
    for id in ("second", "options-toggle", "inspector-toggle"):
        expect(page.locator(f"#{id}")).to_be_visible()


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_message_arrives_with_motion_unless_the_user_wants_none(open_page, server, motion):
    session = run("session", "create")
    page = open_page(link(server, session, "Ada"), reduced_motion=motion)
    ada = joined(page)
    page.evaluate(
        """() => {
             window.seen = [];
             document.getElementById('chat').shadowRoot.addEventListener('animationstart', (event) => {
               if (event.animationName === 'arrive') seen.push(getComputedStyle(event.target).animationDuration);
             });
           }"""
    )
    ada.send("one")
    expect(ada.row("one")).to_have_attribute("data-state", "sent")
    expect(page.locator("#chat .row.arriving")).to_have_count(0)
    seen = page.evaluate("seen")
    assert seen == (["0.2s"] if motion == "no-preference" else seen) and set(seen) <= {"0.2s", "0s"}
    assert motion == "no-preference" or "0.2s" not in seen
    page.reload()
    joined(page)
    expect(page.locator("#chat .row.arriving")).to_have_count(0)
