"""The test page: chat between users, the inspector, options, and narrow windows."""

import datetime
import re

from playwright.sync_api import expect
from relay import Relay
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


def test_rows_are_grouped_by_sender_with_name_and_time_on_top(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    ada.send("one")
    ada.send("two")
    bob.expect_messages("one", "two")
    bob.send("three")
    ada.expect_messages("one", "two", "three")
    ada.send("four")
    ada.expect_rows("day", "sent first", "sent last", "received single", "sent single")
    bob.expect_rows("day", "received first", "received last", "sent single", "received single")
    shown = bob.page.locator("#messages .row:not(.short) .row-name")
    expect(shown).to_have_text(["Ada", "You", "Ada"])


def test_a_group_ends_after_two_minutes_and_a_day_at_midnight(open_page, url, room):
    """Messages less than 120 s apart are one group, by the reader's clock."""
    evening = datetime.datetime(2026, 3, 3, 23, 55)
    ada = User.join(open_page, url, room, "Ada", timezone_id="Asia/Shanghai")
    bob = User.join(open_page, url, room, "Bob")
    for text, seconds in (("a", 0), ("b", 119), ("c", 239), ("d", 305)):
        moment = evening + datetime.timedelta(seconds=seconds) - datetime.timedelta(hours=8)
        ada.page.clock.set_fixed_time(moment.replace(tzinfo=datetime.timezone.utc))
        bob.send(text)
        expect(ada.bubble(text)).to_be_visible()
    ada.expect_rows("day", "received first", "received last", "received single", "day", "received single")
    expect(ada.page.locator("[data-kind=day]")).to_have_text(["Yesterday", "Today"])
    expect(ada.page.locator("[data-kind=day] time").first).to_have_attribute("datetime", "2026-03-03")


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


def test_a_directed_signal_reaches_its_target_only(open_page, url, room, screenshots):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    cy = User.join(open_page, url, room, "Cy")
    for user in (ada, bob, cy):
        user.expect_participants("Ada", "Bob", "Cy")
        user.open_inspector()
    ada.send_signal("secret", "for Bob", to="Bob")
    expect(ada.log("acknowledges")).to_have_count(1)
    expect(bob.received("for Bob")).to_contain_text("Ada → Bob")
    # Signals arrive in their order: the directed one would have arrived before this one.
    ada.send_signal("public", "for all")
    for user in (ada, bob, cy):
        expect(user.received("for all")).to_contain_text("Ada")
    assert cy.log("for Bob").count() == 0
    assert ada.received("for Bob").count() == 0
    ada.page.screenshot(path=screenshots / "inspector-light.png")


def test_the_inspector_sends_any_signal_and_shows_the_outcome(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.open_inspector()
    ada.send_signal()
    expect(ada.log("acknowledges")).to_have_count(1)
    expect(ada.received("signal")).to_contain_text("Ada")
    ada.send_signal(type="not a type")
    expect(ada.log("signal refused")).to_contain_text("400 OT_INVALID_PARAMETER")
    ada.send_signal(data="x" * 8191)
    expect(ada.log("signal refused").last).to_contain_text("413 OT_INVALID_PARAMETER")


def test_a_bare_message_of_the_first_sample_component_is_a_message(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "Bob")
    bob.open_inspector()
    bob.send_signal("TextChat", "bare")
    ada.expect_messages("bare")
    bob.expect_messages("bare")


def test_the_composer_shows_the_remaining_length(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    remaining = ada.page.locator("#remaining")
    send = ada.page.get_by_role("button", name="Send", exact=True)
    expect(remaining).to_have_text("")
    expect(send).to_be_disabled()
    ada.type("   ")
    expect(send).to_be_disabled()
    ada.type("x" * 899)
    expect(remaining).to_have_text("")
    ada.type("x" * 989)
    expect(remaining).to_have_text("11 characters left")
    expect(remaining).not_to_have_class(re.compile("few"))
    # A family is one grapheme cluster.
    ada.page.keyboard.insert_text("👨‍👩‍👧‍👦")
    expect(remaining).to_have_text("10 characters left")
    expect(remaining).to_have_class(re.compile("few"))
    ada.page.keyboard.insert_text("y" * 10)
    expect(remaining).to_have_text("0 characters left")
    send.click()
    ada.expect_messages("x" * 989 + "👨‍👩‍👧‍👦" + "y" * 10)
    expect(remaining).to_have_text("")


def test_a_text_over_the_limit_stays_in_the_box_marked_until_it_is_shorter(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    box = ada.page.get_by_label("Message", exact=True)
    hint = ada.page.locator("#composer-hint")
    ada.type("x" * 1002)
    expect(box).to_have_value("x" * 1002)
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(hint).to_have_text("Too long by 2 characters. Shorten it to send it.")
    expect(ada.page.locator("#remaining")).to_have_text("2 characters over")
    expect(ada.page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    box.press("Enter")
    ada.page.reload()
    expect(box).to_have_value("x" * 1002)
    expect(box).to_be_enabled()
    box.press("Backspace")
    expect(hint).to_have_text("Too long by 1 character. Shorten it to send it.")
    box.press("Backspace")
    expect(box).to_have_attribute("aria-invalid", "false")
    expect(hint).to_have_text("")
    box.press("Enter")
    ada.expect_messages("x" * 1000)


def test_a_text_that_is_too_large_for_a_signal_is_refused_before_it_is_sent(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.type("👨‍👩‍👧‍👦" * 900)
    expect(ada.page.locator("#composer-hint")).to_have_text("This text is too large for one message. Shorten it.")
    expect(ada.page.get_by_role("button", name="Send", exact=True)).to_be_disabled()


def test_enter_in_an_input_method_does_not_send(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.type("你好")
    for composing in ("{ isComposing: true }", "{ keyCode: 229 }"):
        ada.page.locator("#composer-text").evaluate(
            "(field) => field.dispatchEvent(new KeyboardEvent('keydown',"
            " { key: 'Enter', bubbles: true, cancelable: true, ...%s }))" % composing
        )
    ada.expect_messages()
    ada.page.keyboard.press("Enter")
    ada.expect_messages("你好")


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
    page.add_init_script(
        "const Plain = WebSocket; window.WebSocket = class extends Plain "
        "{ constructor(...args) { super(...args); window.socket = this; } };"
    )
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


def test_the_list_says_how_many_of_the_oldest_messages_are_gone(open_page, url):
    page = open_page(url + "/")
    page.evaluate(
        """async () => {
             const { chatTemplate } = await import('/chat/views/chat-template.js');
             const { MessagesView } = await import('/chat/views/messages-view.js');
             const { CHAT_STRINGS } = await import('/chat/strings/index.js');
             const { Words } = await import('/chat/words/words.js');
             const { ChatTimeline } = await import('/text-chat/index.js');
             document.body.append(chatTemplate());
             const timeline = new ChatTimeline({ limit: 3 });
             const view = new MessagesView((id) => document.getElementById(id), {
               words: new Words('en', CHAT_STRINGS), nameOf: () => 'Ada', isGuest: () => false, hasMenu: () => false, isHeld: () => false, moved() {}, limit: 3,
               droppedCount: () => timeline.droppedCount,
             });
             const message = (seq) => ({ seq, text: `message ${seq}`, senderId: 'a', direction: 'received' });
             for (let seq = 1; seq <= 5; seq += 1) view.apply(timeline.insert(message(seq), 0));
           }"""
    )
    expect(page.locator("body > section #messages .bubble")).to_have_text(["message 3", "message 4", "message 5"])
    expect(page.locator("body > section #messages-dropped")).to_have_text(
        "This page keeps 3 messages. 2 older messages are no longer here."
    )


def test_leave_2_a_moderator_removes_a_user_who_may_join_again(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada", role="moderator")
    bob = User.join(open_page, url, room, "Bob")
    assert bob.page.get_by_role("button", name="Menu for").count() == 0
    ada.remove("Bob")
    expect(bob.page.get_by_role("alert")).to_contain_text("You were removed from this chat.")
    # One key would bring the user back at once: only a user who means it does that.
    expect(bob.page.get_by_role("button", name="Join again")).not_to_be_focused()
    ada.expect_participants("Ada")
    bob.page.get_by_role("button", name="Join again").click()
    ada.expect_participants("Ada", "Bob")


def test_a_user_whose_role_may_not_write_has_a_field_that_says_so(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada", role="publisheronly")
    box = ada.page.get_by_label("Message", exact=True)
    expect(box).not_to_be_editable()
    expect(box).to_have_attribute("placeholder", "You can read this chat, but you cannot write in it.")


def test_the_page_reconnects_to_a_stopped_server_and_ends_when_the_token_is_refused(
    open_page, own_server, url, room, screenshots
):
    relay = Relay(own_server.url)
    ada = User.join(open_page, relay.url, room, "Ada")
    ada.send("before")
    ada.expect_messages("before")
    expect(ada.page.locator(MESSAGE_ROWS)).to_have_attribute("data-state", "sent")
    own_server.stop()
    expect(ada.page.locator("#status-text")).to_have_text("Reconnecting…")
    # Another server, with another secret, refuses the token.
    relay.route_to(url)
    expect(ada.page.get_by_role("alert")).to_contain_text("The connection was lost.")
    expect(ada.page.locator("#status-text")).to_have_text("Not connected")
    expect(ada.page.get_by_label("Message", exact=True)).to_be_disabled()
    ada.expect_messages("before")
    ada.page.screenshot(path=screenshots / "lost-light.png")
    ada.page.get_by_role("button", name="Leave").click()
    expect(ada.page.get_by_label("Your name")).to_be_visible()
    ada.page.complaints.clear()
    relay.stop()


def test_messages_and_the_draft_stay_when_the_session_is_gone_and_a_line_says_so(open_page, own_server, url, room):
    relay = Relay(own_server.url)
    ada = User.join(open_page, relay.url, room, "Ada")
    ada.send("before")
    ada.expect_messages("before")
    ada.type("half a thought")
    own_server.stop()
    relay.route_to(url)
    expect(ada.page.get_by_role("alert")).to_contain_text("The connection was lost.")
    ada.page.get_by_role("button", name="Join again").click()
    ada.expect_status("Connected")
    # The other server has another secret, so it has begun a new session for the room.
    expect(ada.page.locator("#messages [data-kind=gap]")).to_have_text(
        "A new conversation begins here. The messages above are from the last one."
    )
    expect(ada.page.get_by_label("Message", exact=True)).to_have_value("half a thought")
    ada.page.get_by_label("Message", exact=True).press("Enter")
    ada.expect_messages("before", "half a thought")
    ada.expect_rows("day", "sent single", "gap", "sent single")
    ada.page.complaints.clear()
    relay.stop()


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
    dark = User.join(open_page, url, room, "Bob", color_scheme="dark")
    light.send("hello")
    dark.expect_messages("hello")
    for selector in ("body", ".pane", ".bubble"):
        assert brightness(light, selector) > 180
        assert brightness(dark, selector) < 80
    dark.page.screenshot(path=screenshots / "chat-dark.png")


def test_reduced_motion_has_no_transitions(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada", reduced_motion="reduce")
    moving = ada.page.evaluate(
        "[document, document.getElementById('chat').shadowRoot].flatMap((root) => [...root.querySelectorAll('*')])"
        ".filter((each) => parseFloat(getComputedStyle(each).transitionDuration) > 0).length"
    )
    assert moving == 0
