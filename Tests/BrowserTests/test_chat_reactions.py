"""Users of `<signalbox-chat>` react, and see who has read what: on two devices each, one of them a phone."""


import pytest
from application import Application
from chat_element import element, expect_messages, expect_state, send
from conftest import Server
from playwright.sync_api import expect
from relay import Relay
from test_accessibility import NAMELESS, assert_contrast
from test_chat_changes import PHONE, assert_sound, join, row  # noqa: F401
from test_dismissed import PAGE, PROJECT
from test_dismissed import access as access_of
from user import User

SETTINGS = ("--api-key", PROJECT.key, "--api-secret", PROJECT.secret, "--history", "text-chat",
            "--changes", "edit,erase,react", "--read-markers", "shared")  # fmt: skip


class Machine:
    """A server with a folder, which the test may kill, behind a cable that it may pull."""

    def __init__(self, folder):
        self.arguments = (*SETTINGS, "--state-dir", str(folder))
        self.server = Server(*self.arguments, is_development=False)
        self.relay = Relay(self.server.url)

    def kill(self):
        """Its next process continues the sessions."""
        self.server.process.kill()
        self.server.process.wait()
        self.relay.cut()
        self.server = Server(*self.arguments, is_development=False)
        self.relay.route_to(self.server.url)
        self.relay.restore()

    def stop(self):
        self.relay.stop()
        self.server.stop()


@pytest.fixture
def machine(require_server, tmp_path):
    machine = Machine(tmp_path / "state")
    yield machine
    machine.stop()


@pytest.fixture
def visit(open_page, machine):
    """Opens the chat of a user, or with `name` None of a guest, on another device."""
    applications = []
    session = PROJECT.session()

    def visit(name, attributes=None, **options):
        given = access_of(session, name) if name else {
            "sessionId": session, "apiKey": PROJECT.key, "token": PROJECT.token(session, data="name=Zoe")
        }  # fmt: skip
        content = '<meta name="viewport" content="width=device-width">' + element(
            given, server=machine.relay.url, **(attributes or {})
        )
        # The script stays where it is when the server has another port.
        applications.append(Application(PAGE.format(url=machine.server.url, content=content)))
        page = open_page(applications[-1].url, **options)
        expect_state(page, "connected")
        return page

    yield visit
    for application in applications:
        application.stop()


def pills(page, text):
    return row(page, text).locator(".reaction")


def expect_reactions(page, text, *labels):
    """What a screen reader says of the reactions to a message."""
    expect(pills(page, text)).to_have_count(len(labels))
    for index, label in enumerate(labels):
        expect(pills(page, text).nth(index)).to_have_attribute("aria-label", label)


def say(page, text):
    send(page, text)
    expect(row(page, text).locator(".react:not([hidden])")).to_have_count(1)


def react(page, text, key):
    row(page, text).locator(".bubble").hover()
    row(page, text).locator(".react").click()
    page.get_by_role("menuitemcheckbox", name=key).click()


def expect_unread(page, count):
    page.wait_for_function("(count) => chat.unreadCount === count", arg=count)


def look_away(page):
    """The user does not see the chat, until `look`."""
    page.locator("#chat").evaluate("(chat) => { chat.style.opacity = 0; chat.noteReading(); }")


def look(page):
    page.locator("#chat").evaluate("(chat) => { chat.style.opacity = 1; chat.noteReading(); }")


def test_chat_15_reactions_agree_on_all_devices_over_a_reload_a_kill_and_a_pulled_cable(visit, machine):
    ada, phone, bob, zoe = visit("ada"), visit("ada", **PHONE), visit("bob"), visit(None)
    everybody = (ada, phone, bob, zoe)
    say(bob, "Shall we meet?")
    for page in everybody:
        expect_messages(page, "Shall we meet?")
    react(ada, "Shall we meet?", "👍")
    for page in (ada, phone):
        expect_reactions(page, "Shall we meet?", "👍, you")
    for page in (bob, zoe):
        expect_reactions(page, "Shall we meet?", "👍, 1 person")
    pills(bob, "Shall we meet?").click()
    # A finger takes back what another device has given, and gives another one.
    row(phone, "Shall we meet?").locator(".row-menu").tap()
    phone.get_by_role("menuitem", name="React").tap()
    phone.get_by_role("menuitemcheckbox", name="❤️").tap()
    for page in (ada, phone):
        expect_reactions(page, "Shall we meet?", "👍, 2 people, you too", "❤️, you")
    pills(phone, "Shall we meet?").first.tap()
    expected = {ada: ("👍, 1 person", "❤️, you"), phone: ("👍, 1 person", "❤️, you"), bob: ("👍, you", "❤️, 1 person"),
                zoe: ("👍, 1 person", "❤️, 1 person")}  # fmt: skip

    def expect_all():
        for page, labels in expected.items():
            expect_reactions(page, "Shall we meet?", *labels)

    expect_all()
    # A guest sees them, and gives none.
    expect(pills(zoe, "Shall we meet?").first).to_be_disabled()
    expect(row(zoe, "Shall we meet?").locator(".react")).to_be_hidden()
    ada.reload()
    expect_all()
    machine.kill()
    for page in everybody:
        expect_state(page, "connected")
    expect_all()
    machine.relay.cut()
    for page in everybody:
        expect_state(page, "reconnecting")
    pills(bob, "Shall we meet?").nth(1).click()
    machine.relay.restore()
    expected |= {ada: ("👍, 1 person", "❤️, 2 people, you too"), phone: ("👍, 1 person", "❤️, 2 people, you too"),
                 bob: ("👍, you", "❤️, 2 people, you too"), zoe: ("👍, 1 person", "❤️, 2 people")}  # fmt: skip
    expect_all()
    for page in everybody:
        # A pulled cable is in the console.
        page.complaints.clear()


def test_chat_16_unread_messages_and_receipts_agree_on_all_devices(visit, machine):
    bob, tablet, phone = visit("bob"), visit("bob", viewport={"width": 800, "height": 600}), visit("bob", **PHONE)
    ada = visit("ada")
    for page in (tablet, phone):
        look_away(page)
    say(ada, "one")
    say(ada, "two")
    for page in (bob, tablet, phone):
        expect_messages(page, "one", "two")
    # Bob sees them on one device: they are read on all.
    expect(ada.locator("#chat .receipt")).to_have_text("Seen")
    expect(row(ada, "two").locator(".receipt")).to_have_accessible_name("Seen by bob")
    for page in (bob, tablet, phone):
        expect_unread(page, 0)
    look_away(bob)
    say(ada, "three")
    say(ada, "four")
    for page in (bob, tablet, phone):
        expect_unread(page, 2)
    expect(row(ada, "two").locator(".receipt")).to_have_count(1)
    # What comes back begins with what is unread.
    phone.reload()
    expect_unread(phone, 2)
    expect(phone.locator("#chat .unread-divider + [data-kind=message] .bubble")).to_have_text("three")
    # It is on the screen, and is read after a while, on all devices.
    for page in (bob, tablet, phone):
        expect_unread(page, 0)
    expect(row(ada, "four").locator(".receipt")).to_have_text("Seen")
    machine.kill()
    for page in (bob, tablet, phone, ada):
        expect_state(page, "connected")
    look_away(phone)
    say(ada, "five")
    for page in (bob, tablet, phone):
        expect_unread(page, 1)
    tablet.reload()
    ada.reload()
    expect_unread(phone, 0)
    expect_unread(bob, 0)
    expect(row(ada, "five").locator(".receipt")).to_have_text("Seen")
    for page in (bob, tablet, phone):
        look_away(page)
    say(ada, "six")
    for page in (bob, tablet, phone):
        expect_unread(page, 1)
    machine.relay.cut()
    for page in (bob, tablet, phone, ada):
        expect_state(page, "reconnecting")
    # What is read without a connection is told with the next one.
    look(bob)
    expect_unread(bob, 0)
    machine.relay.restore()
    for page in (tablet, phone):
        expect_unread(page, 0)
    expect(row(ada, "six").locator(".receipt")).to_have_text("Seen")
    for page in (bob, tablet, phone, ada):
        page.complaints.clear()


def test_chat_16_a_button_lists_who_has_read(visit):
    ada = visit("ada")
    say(ada, "Hello everybody")
    others = [visit(name) for name in ("bob", "cy", "dee")]
    for page in others:
        expect_messages(page, "Hello everybody")
    receipt = row(ada, "Hello everybody").locator(".receipt")
    expect(receipt.locator(".avatar")).to_have_count(3)
    ada.locator("#chat #messages-scroll").focus()
    ada.keyboard.press("ArrowUp")
    receipt.focus()
    ada.keyboard.press("Enter")
    listed = ada.get_by_role("dialog")
    expect(listed.get_by_role("listitem")).to_have_count(3)
    assert sorted(listed.get_by_role("listitem").locator("bdi").all_inner_texts()) == ["bob", "cy", "dee"]
    ada.keyboard.press("Escape")
    expect(listed).to_be_hidden()
    expect(receipt).to_be_focused()
    ada.locator("#chat").evaluate("(chat) => chat.setAttribute('receipts', 'off')")
    expect(receipt).to_have_count(0)


def test_chat_15_the_keyboard_reacts_and_the_title_names_the_users(visit):
    ada, bob = visit("ada"), visit("bob")
    say(bob, "one")
    expect_messages(ada, "one")
    ada.locator("#chat #messages-scroll").focus()
    ada.keyboard.press("ArrowUp")
    ada.keyboard.press("Tab")
    expect(row(ada, "one").locator(".react")).to_be_focused()
    ada.keyboard.press("Enter")
    expect(ada.get_by_role("menuitemcheckbox", name="👍")).to_be_focused()
    ada.keyboard.press("ArrowRight")
    ada.keyboard.press("Enter")
    expect(row(ada, "one").locator(".react")).to_be_focused()
    expect_reactions(ada, "one", "❤️, you")
    pills(bob, "one").click()
    expect_reactions(ada, "one", "❤️, 2 people, you too")
    pills(ada, "one").focus()
    expect(pills(ada, "one")).to_have_attribute("title", "You and bob")
    ada.keyboard.press("Space")
    expect_reactions(ada, "one", "❤️, 1 person")
    expect(pills(ada, "one")).to_be_focused()
    # With the last one goes the pill, and the focus to its message.
    ada.keyboard.press("Space")
    expect_reactions(bob, "one", "❤️, 2 people, you too")
    pills(bob, "one").click()
    ada.keyboard.press("Space")
    expect(pills(ada, "one")).to_have_count(0)
    expect(row(ada, "one")).to_be_focused()


def test_chat_15_a_page_with_a_strict_policy_shows_reactions(join):  # noqa: F811
    ada, bob = join("Ada"), join("Bob")
    say(ada, "one")
    expect_messages(bob, "one")
    react(bob, "one", "🙏")
    expect_reactions(ada, "one", "🙏, 1 person")
    expect(row(ada, "one").locator(".receipt")).to_have_text("Seen")
    # A program that has its own keys, and one that wants no reactions.
    bob.locator("#chat").evaluate("(chat) => { chat.reactionKeys = ['👎']; }")
    react(bob, "one", "👎")
    expect_reactions(ada, "one", "🙏, 1 person", "👎, 1 person")
    ada.locator("#chat").evaluate("(chat) => { chat.hasReactions = false; }")
    expect(pills(ada, "one")).to_have_count(0)


def test_the_test_page_passes_reactions_and_markers_on(open_page, url, room):
    ada, bob = User.join(open_page, url, room, "Ada"), User.join(open_page, url, room, "Bob")
    ada.send("one")
    bob.expect_messages("one")
    expect(ada.row("one").locator(".receipt")).to_have_text("Seen")
    bob.bubble("one").hover()
    bob.row("one").locator(".react").click()
    bob.page.get_by_role("menuitemcheckbox", name="👍").click()
    expect(ada.row("one").locator(".reaction")).to_have_attribute("aria-label", "👍, 1 person")
    expect(bob.row("one").locator(".reaction")).to_have_attribute("aria-label", "👍, you")


@pytest.mark.parametrize("name", ["desktop", "phone", "dark", "arabic", "opentok"])
def test_the_pictures_of_reactions_and_receipts(visit, screenshots, name):
    options = {
        "phone": PHONE, "dark": {"color_scheme": "dark"}, "arabic": {"viewport": {"width": 360, "height": 640}},
    }.get(name, {})  # fmt: skip
    attributes = {"arabic": {"lang": "ar"}, "dark": {"scheme": "dark"}, "opentok": {"look": "opentok"}}.get(name)
    bob, cy = visit("bob"), visit("cy")
    ada = visit("ada", attributes, **options, **({"reduced_motion": "reduce"} if name != "phone" else {}))
    say(bob, "Shall we meet on Tuesday? I would like to show you a few things before the others come.")
    say(ada, "نعم" if name == "arabic" else "Yes")
    expect(cy.locator("#chat .bubble")).to_have_count(2)
    for key in ("👍", "❤️", "🙏"):
        bob.locator("#chat").evaluate(
            "(chat, key) => chat.component.toggleReaction(chat.component.rows.at(-1).id, key)", key
        )
    for page in (ada, cy):
        page.locator("#chat").evaluate(
            "(chat) => chat.component.toggleReaction(chat.component.rows.find(({ message }) => message).id, '😂')"
        )
    expect(ada.locator("#chat .reaction")).to_have_count(4)
    expect(ada.locator("#chat .receipt .avatar")).to_have_count(2)
    ada.screenshot(path=screenshots / f"reactions-{name}.png")
    assert_sound(ada)
    if name != "phone":
        assert_contrast(ada)
    last = ada.locator("#chat [data-kind=message]").last
    last.locator(".bubble").hover()
    if name == "phone":
        last.locator(".row-menu").tap()
        ada.get_by_role("menuitem", name="React").tap()
    else:
        last.locator(".react").click()
    expect(ada.locator("#chat .reaction-picker button")).to_have_count(6)
    ada.screenshot(path=screenshots / f"reactions-picker-{name}.png")
    assert ada.evaluate(NAMELESS) == []
