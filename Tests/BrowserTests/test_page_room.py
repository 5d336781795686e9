"""The page around a room: its place in the browser's history, its participants, files, and narrow windows."""

import pytest
from playwright.sync_api import expect
from relay import Relay
from test_hostile_text import send_raw
from test_inspector import KEEP_SOCKET
from user import User

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def relay(url):
    relay = Relay(url)
    yield relay
    relay.stop()


def expect_form(page):
    expect(page.get_by_role("button", name="Join", exact=True)).to_be_visible()
    expect(page.locator("#panes")).to_be_hidden()


def expect_room(user, room):
    user.expect_status("Connected")
    expect(user.page.locator("#room-name")).to_have_text(room)
    expect(user.page).to_have_title(f"{room} · Signalbox")


def test_back_leaves_the_room_and_forward_returns(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    bob.page.go_back()
    expect_form(bob.page)
    expect(bob.page).to_have_title("Signalbox")
    ada.expect_participants("Ada")
    bob.page.go_forward()
    expect_room(bob, room)
    ada.expect_participants("Ada", "Bob")
    bob.page.reload()
    expect_room(bob, room)
    expect(bob.page.locator("#own-name")).to_have_text("Bob")
    ada.expect_participants("Ada", "Bob")
    bob.page.go_back()
    expect_form(bob.page)


def test_leave_goes_back_to_the_form_so_that_the_next_back_leaves_the_site(open_page, url, room):
    ada = User(open_page("about:blank"))
    ada.page.goto(url + "/")
    for _ in range(2):
        ada.page.get_by_label("Room", exact=True).fill(room)
        ada.page.get_by_role("button", name="Join").click()
        expect_room(ada, room)
        ada.page.get_by_role("button", name="Leave").click()
        expect_form(ada.page)
        ada.page.wait_for_function("history.state === null")
    ada.page.go_back()
    expect(ada.page).to_have_url("about:blank")


def test_a_long_list_of_participants_has_you_first_and_a_filter(open_page, url, room, screenshots):
    zoe = User.join(open_page, url, room, "Zoë")
    page = zoe.page
    field = page.get_by_label("Find a participant")
    expect(field).to_be_hidden()
    send_raw(open_page, url, room, [], *(f"User {number:02}" for number in range(39)))
    names = page.locator("#participants .participant-name:visible")
    expect(names).to_have_text(["Zoë", *(f"User {number:02}" for number in range(39))])
    page.screenshot(path=screenshots / "forty-people.png")
    field.fill("user 1")
    expect(names).to_have_text([f"User {number}" for number in range(10, 20)])
    page.screenshot(path=screenshots / "forty-people-filter.png")
    expect(page.locator("#participant-count")).to_have_text("40")
    field.fill("zoe")
    expect(names).to_have_text(["Zoë"])
    field.fill("nobody")
    expect(page.get_by_text("Nobody here has this name.")).to_be_visible()


def test_pres_4_a_participant_who_is_away_is_grey_and_not_counted(open_page, url, room):
    """The page gets the lines of a server that has missed Bob for 10 s."""

    def open_watched(address):
        page = open_page("about:blank")
        page.add_init_script(KEEP_SOCKET)
        page.goto(address)
        return page

    ada = User.join(open_watched, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    ada.expect_participants("Ada", "Bob")
    id = bob.page.evaluate("document.getElementById('chat').component.channel.connectionId")

    def tell(event):
        ada.page.evaluate(
            "line => { socket.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(line) })); }",
            {"ev": event, "connectionId": id},
        )

    tell("connectionAway")
    expect(ada.page.locator(".participant.is-away .participant-name")).to_have_text("Bob")
    expect(ada.page.locator("#participant-count")).to_have_text("1")
    tell("connectionBack")
    expect(ada.page.locator(".participant.is-away")).to_have_count(0)
    expect(ada.page.locator("#participant-count")).to_have_text("2")


# A file that the user drops or pastes, on an element. Returns whether the page has kept the browser from opening it.
GIVE_FILE = """(element, [kind, text]) => {
  const data = new DataTransfer();
  data.items.add(new File(['x'], 'photo.png', { type: 'image/png' }));
  if (text) data.setData('text/plain', text);
  const options = { bubbles: true, cancelable: true, composed: true };
  const event = kind === 'paste' ? new ClipboardEvent(kind, { ...options, clipboardData: data })
    : new DragEvent(kind, { ...options, dataTransfer: data });
  return !element.dispatchEvent(event);
}"""


def test_a_file_gets_a_sentence_and_does_not_replace_the_page(open_page, url, room):
    page = open_page(url + "/")
    for kind in ("dragover", "drop"):
        assert page.locator("body").evaluate(GIVE_FILE, [kind, None])
    expect(page.locator("#join-error")).to_contain_text("text only")
    ada = User.join(open_page, url, room, "Ada")
    for kind in ("dragover", "drop", "paste"):
        assert ada.page.locator("#composer-text").evaluate(GIVE_FILE, [kind, None]), kind
    expect(ada.page.locator("#composer-hint")).to_contain_text("text only")
    expect(ada.page.locator("#back-report")).to_be_hidden()
    assert not ada.page.locator("#composer-text").evaluate(GIVE_FILE, ["paste", "the text of a table"])
    assert ada.page.locator(".bar").evaluate(GIVE_FILE, ["drop", None])
    expect(ada.page.locator("#back-report")).to_contain_text("text only")


def test_try_now_reconnects_without_waiting(open_page, url, room, relay):
    def open_without_time(address):
        """The next attempt would follow after a while, but the clock of this page stands still."""
        page = open_page("about:blank")
        page.clock.install(time=0)
        page.clock.pause_at(1000)
        page.goto(address)
        return page

    ada = User.join(open_without_time, relay.url, room, "Ada")
    button = ada.page.get_by_role("button", name="Try now")
    expect(button).to_be_hidden()
    relay.cut()
    ada.expect_status("Reconnecting…")
    relay.restore()
    button.click()
    ada.expect_status("Connected")
    expect(button).to_be_hidden()
    ada.page.complaints.clear()


def test_on_a_phone_the_bars_leave_the_height_to_the_messages(open_page, url, room, screenshots):
    ada = User.join(open_page, url, room, "Ada", viewport=PHONE)
    ada.send("hello")
    page = ada.page
    bars = [page.locator(name).bounding_box()["height"] for name in (".bar", "#composer")]
    typing_line = page.locator("#typing").bounding_box()["height"]
    messages = page.locator("#messages-scroll").bounding_box()["height"]
    assert sum(bars) <= 100
    assert abs(PHONE["height"] - sum(bars) - typing_line - messages) <= 1
    page.screenshot(path=screenshots / "phone.png")
    for name in ("Options", "Inspector", "Two users", "Copy link"):
        expect(page.get_by_role("button", name=name)).to_be_hidden()
    page.get_by_role("button", name="More").click()
    for name in ("Options", "Inspector", "Two users", "Copy link"):
        expect(page.get_by_role("button", name=name)).to_be_visible()
    expect(page.locator("#participants")).to_be_visible()
    page.screenshot(path=screenshots / "phone-more.png")


def test_the_options_scroll_in_a_low_window(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada", viewport={"width": 1280, "height": 800})
    ada.open_options()
    ada.page.get_by_text("Typing intervals").click()
    box = ada.page.locator("#options").bounding_box()
    assert box["y"] + box["height"] <= 800
    offline = ada.page.get_by_label("Stay offline")
    offline.scroll_into_view_if_needed()
    expect(offline).to_be_in_viewport()


def test_a_hovered_button_and_a_pressed_one_look_different(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    look = "button => { const { backgroundColor, borderColor } = getComputedStyle(button); return backgroundColor + borderColor; }"
    ada.page.emulate_media(reduced_motion="reduce")
    button = ada.page.get_by_role("button", name="Inspector")
    looks = [button.evaluate(look)]
    button.hover()
    looks.append(button.evaluate(look))
    button.click()
    ada.page.mouse.move(0, 0)
    looks.append(button.evaluate(look))
    assert len(set(looks)) == 3, looks
    # Where the user has chosen the colours, too.
    ada.page.emulate_media(reduced_motion="reduce", forced_colors="active")
    colour = "button => getComputedStyle(button).backgroundColor"
    pressed = button.evaluate(colour)
    button.click()
    ada.page.mouse.move(0, 0)
    assert button.evaluate(colour) != pressed
