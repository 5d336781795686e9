"""The test page: chat between users, the inspector, options, and narrow windows."""

import datetime
import re

from playwright.sync_api import expect
from test_inspector import KEEP_SOCKET
from user import MESSAGE_ROWS, User


def test_two_users_chat_in_both_directions(open_page, url, room, screenshots):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    ada.send("hello")
    bob.expect_messages("hello")
    bob.send("hello yourself 🚂")
    for user in (ada, bob):
        user.expect_messages("hello", "hello yourself 🚂")
    expect(ada.page.locator(MESSAGE_ROWS).first).to_have_attribute("data-state", "sent")
    expect(bob.page.locator(".row-name").first).to_have_text("Ada")
    ada.page.screenshot(path=screenshots / "chat-light.png")


def test_the_page_runs_under_a_strict_content_security_policy(open_page, url):
    page = open_page("about:blank")
    answer = page.goto(url + "/")
    policy = answer.header_value("content-security-policy") or ""
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.header_value("x-content-type-options") == "nosniff"


def test_the_participants_are_listed_as_they_join_and_leave(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.expect_participants("Ada")
    bob = User.join(open_page, url, room, "Bob")
    cy = User.join(open_page, url, room, "Cy")
    for user in (ada, bob, cy):
        user.expect_participants("Ada", "Bob", "Cy")
    bob.page.close()
    for user in (ada, cy):
        user.expect_participants("Ada", "Cy")
    cy.page.get_by_role("button", name="Leave").click()
    expect(cy.page.get_by_role("button", name="Join")).to_be_visible()
    ada.expect_participants("Ada")
    ada.open_inspector()
    expect(ada.log("connectionDestroyed").last).to_contain_text("clientDisconnected")


def test_rooms_are_separate(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room + "2", "Bob")
    ada.expect_participants("Ada")
    bob.send("in the second room")
    bob.expect_messages("in the second room")
    bob.page.get_by_role("button", name="Leave").click()
    bob.page.get_by_label("Room", exact=True).fill(room)
    bob.page.get_by_role("button", name="Join").click()
    bob.expect_participants("Ada", "Bob")
    bob.expect_messages()
    bob.send("in the first room")
    ada.expect_messages("in the first room")


def test_the_inspector_sends_any_signal_and_shows_the_outcome(open_page, url, room, screenshots):
    ada = User.join(open_page, url, room, "Ada")
    ada.open_inspector()
    ada.send_signal()
    expect(ada.log("acknowledges")).to_have_count(1)
    expect(ada.received("signal")).to_contain_text("Ada")
    ada.send_signal(type="not a type")
    expect(ada.log("signal refused")).to_contain_text("400 OT_INVALID_PARAMETER")
    ada.send_signal(data="x" * 8191)
    expect(ada.log("signal refused").last).to_contain_text("413 OT_INVALID_PARAMETER")
    ada.page.screenshot(path=screenshots / "inspector-light.png")


def test_enter_sends_and_shift_enter_starts_a_new_line(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    keyboard = ada.page.keyboard
    keyboard.press("Enter")
    keyboard.type("one")
    keyboard.press("Shift+Enter")
    keyboard.type("two")
    expect(ada.page.get_by_label("Message", exact=True)).to_have_value("one\ntwo")
    keyboard.press("Enter")
    expect(ada.page.locator(f"{MESSAGE_ROWS} .bubble")).to_have_count(1)
    assert ada.page.locator(f"{MESSAGE_ROWS} .bubble").text_content() == "one\ntwo"


def test_every_control_can_be_reached_by_keyboard(open_page, url, room):
    page = open_page(url + "/")
    expect(page.get_by_label("Your name")).to_be_focused()
    page.keyboard.type("Ada")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type(room)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    page.keyboard.type("hello")
    page.keyboard.press("Enter")
    expect(page.locator(f"{MESSAGE_ROWS} .bubble")).to_have_text(["hello"])
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("(document.activeElement.shadowRoot ?? document).activeElement.id"))
    assert {"invite", "inspector-toggle", "leave", "messages-scroll", "composer-text"} <= reached
    page.get_by_role("button", name="Inspector").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Type", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#inspector")).to_be_hidden()
    expect(page.get_by_role("button", name="Inspector")).to_be_focused()


def test_a_user_who_reads_older_messages_sees_the_number_of_new_ones(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    for count in range(30):
        ada.send(f"message {count}")
    expect(bob.page.locator(MESSAGE_ROWS)).to_have_count(30)
    expect(bob.bubble("message 29")).to_be_in_viewport()
    bob.page.locator("#messages-scroll").evaluate("list => { list.scrollTop = 0; }")
    expect(bob.bubble("message 0")).to_be_in_viewport()
    pill = bob.page.locator("#new-messages")
    expect(pill).to_be_hidden()
    # The scroll event comes with the next frame.
    bob.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    ada.send("new")
    expect(pill).to_have_text("1 new message")
    ada.send("newer")
    expect(pill).to_have_text("2 new messages")
    expect(bob.page).to_have_title(re.compile(r"^\(2\) "))
    expect(bob.bubble("message 0")).to_be_in_viewport()
    # Stop the clock, so that the divider stays until the test has checked it.
    bob.page.clock.install()
    bob.page.clock.pause_at(datetime.datetime.now() + datetime.timedelta(minutes=1))
    pill.click()
    expect(bob.bubble("newer")).to_be_in_viewport()
    expect(bob.page.locator("[data-kind=unreadDivider]")).to_be_in_viewport()
    expect(pill).to_be_hidden()
    # When the messages have been read, the divider and the count go.
    bob.page.clock.fast_forward(5000)
    expect(bob.page.locator("[data-kind=unreadDivider]")).to_have_count(0)
    expect(bob.page).to_have_title(re.compile("^(?!\\()"))


def test_of_a_long_chat_old_rows_are_reached_by_scrolling_and_have_no_elements_before(open_page, url, room):
    page = open_page("about:blank")
    page.add_init_script(KEEP_SOCKET)
    page.goto(f"{url}/?room={room}")
    page.get_by_role("button", name="Join").click()
    expect(page.locator("#status-text")).to_have_text("Connected")
    page.evaluate(
        """async () => {
             for (let n = 0; n < 3000; n += 1) {
               const line = { ev: 'signal', seq: 1000 + n, from: null, type: 'TextChat', data: `message ${n}` };
               socket.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(line) }));
               if (n % 500 === 0) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
             }
           }"""
    )
    expect(page.get_by_text("message 2999", exact=True)).to_be_in_viewport()
    assert page.locator(MESSAGE_ROWS).count() <= 1100, "rows far from the view have elements"
    page.locator("#messages-scroll").evaluate("list => { list.scrollTop = 0; }")
    expect(page.get_by_text("message 0", exact=True)).to_be_in_viewport()
    page.locator("#messages-scroll").evaluate("list => { list.scrollTop = list.scrollHeight / 2; }")
    expect(page.get_by_text(re.compile("^message 1[0-9]{3}$")).first).to_be_visible()
    assert page.locator(MESSAGE_ROWS).count() <= 1100, "rows that have left the view keep their elements"
    page.locator("#messages-scroll").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_text("message 2998", exact=True)).to_be_in_viewport()
    # On a busy machine the page may reconnect meanwhile. The server does not know these messages, and says so.
    page.complaints.clear()


def test_the_options_have_the_look_and_the_longest_message(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.send("hello")
    ada.open_options()
    ada.page.get_by_label("Look").select_option("opentok")
    length = ada.page.get_by_label("Longest message")
    for wrong in ("0", "8001", "", "1.5"):
        length.fill(wrong)
        expect(length).to_have_attribute("aria-invalid", "true")
    length.fill("5")
    expect(length).to_have_attribute("aria-invalid", "false")
    ada.page.keyboard.press("Escape")
    ada.expect_messages("hello")
    expect(ada.page.locator("#remaining")).to_have_text("5 characters left")
    ada.type("too long")
    expect(ada.page.locator("#composer-hint")).to_have_text("Too long by 3 characters. Shorten it to send it.")
    ada.type("short")
    ada.page.reload()
    expect(ada.page.locator("#remaining")).to_have_text("0 characters left")


def test_a_phone_needs_no_horizontal_scrolling(open_page, url, room, screenshots):
    phone = {"width": 390, "height": 844}
    ada = User.join(open_page, url, room, "Ada " + "Lovelace" * 6, viewport=phone)
    bob = User.join(open_page, url, room, "Bob", viewport={"width": 360, "height": 640}, color_scheme="dark")
    ada.send("w" * 300)
    bob.expect_messages("w" * 300)
    bob.send("A sentence of ordinary words, which breaks where there is a space.")
    expect(ada.page.locator(MESSAGE_ROWS)).to_have_count(2)
    for user, name in ((ada, "phone-light"), (bob, "phone-dark")):
        assert not user.is_wider_than_its_window()
        user.page.screenshot(path=screenshots / f"{name}.png")
        user.open_inspector()
        assert not user.is_wider_than_its_window()
        user.page.screenshot(path=screenshots / f"{name}-inspector.png")
        expect(user.page.get_by_role("button", name="Leave")).to_be_in_viewport()


def test_colours_follow_the_system_setting(open_page, url, room, screenshots):
    def brightness(user, selector):
        colour = user.page.locator(selector).first.evaluate("element => getComputedStyle(element).backgroundColor")
        red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
        return (red + green + blue) / 3

    light = User.join(open_page, url, room, "Ada", color_scheme="light")
    dark = User.join(open_page, url, room, "Bob", color_scheme="dark", reduced_motion="reduce")
    light.send("hello")
    dark.expect_messages("hello")
    moving = dark.page.evaluate(
        "[document, document.getElementById('chat').shadowRoot].flatMap((root) => [...root.querySelectorAll('*')])"
        ".filter((each) => parseFloat(getComputedStyle(each).transitionDuration) > 0).length"
    )
    assert moving == 0, "a user who wants no motion sees none"
    for selector in ("body", ".pane", ".bubble"):
        assert brightness(light, selector) > 180
        assert brightness(dark, selector) < 80
    dark.page.screenshot(path=screenshots / "chat-dark.png")
