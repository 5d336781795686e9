"""The demo: two users on one page, a cable that can be pulled, and the score of both."""

import re

from playwright.sync_api import expect
from user import User

LEFT, RIGHT = "", "-2"


def send(page, end, text):
    page.locator(f"#chat{end} #composer-text").fill(text)
    page.locator(f"#chat{end} #composer-text").press("Enter")


def expect_messages(page, end, *texts):
    expect(page.locator(f"#chat{end} #messages .bubble")).to_have_text(list(texts))


def expect_status(page, end, text):
    expect(page.locator(f"#status-text{end}")).to_have_text(text)


def open_demo(open_page, url, **options):
    page = open_page(url + "/?demo", **options)
    for end in (LEFT, RIGHT):
        expect_status(page, end, "Connected")
    return page


def test_g_3_a_pulled_cable_loses_doubles_and_reorders_nothing(open_page, url, screenshots):
    page = open_demo(open_page, url)
    score = page.locator("#score")
    send(page, LEFT, "one")
    expect_messages(page, RIGHT, "one")
    expect(score).to_have_text("1 sent · 0 lost · 0 doubled · 0 reordered")
    page.get_by_role("button", name="Pull the cable").click()
    expect_status(page, RIGHT, "Reconnecting…")
    for text in ("two", "three"):
        send(page, LEFT, text)
    expect(score).to_have_text("3 sent · 0 lost · 0 doubled · 0 reordered · 2 on the way")
    send(page, RIGHT, "four")
    page.screenshot(path=screenshots / "cable-pulled.png")
    page.get_by_role("button", name="Put the cable back").click()
    expect_status(page, RIGHT, "Connected")
    for end in (LEFT, RIGHT):
        expect_messages(page, end, "one", "two", "three", "four")
    expect(score).to_have_text("4 sent · 0 lost · 0 doubled · 0 reordered")
    report = page.locator("#chat-2 #back-report")
    expect(report).to_contain_text("2 missed messages loaded · nothing lost")
    expect(report).to_contain_text("Connected again after ")
    expect(page.locator("#chat #back-report")).to_be_hidden()


def test_the_cable_and_the_switch_of_the_second_user_are_one(open_page, url):
    page = open_demo(open_page, url)
    page.locator("#options-toggle-2").click()
    page.locator("#offline-2").check()
    put_back = page.get_by_role("button", name="Put the cable back")
    put_back.click()
    expect(page.locator("#offline-2")).not_to_be_checked()
    expect_status(page, RIGHT, "Connected")
    page.get_by_role("button", name="Pull the cable").click()
    # A second user who comes later starts with a cable.
    page.get_by_role("button", name="Two users").click()
    expect(page.locator("#cable")).to_be_hidden()
    page.get_by_role("button", name="Two users").click()
    expect_status(page, RIGHT, "Connected")
    expect(page.get_by_role("button", name="Pull the cable")).to_be_visible()


def test_a_lost_message_is_in_the_score(open_page, url):
    """The page drops one message on its way to the second user: the score must show it."""
    page = open_page("about:blank")
    sockets = []

    def relay(socket):
        sockets.append(socket)
        is_second = len(sockets) == 2
        server = socket.connect_to_server()

        def forward(text):
            lines = [line for line in text.split("\n") if line.strip()]
            kept = [line for line in lines if not (is_second and '"signal"' in line and "vanishes" in line)]
            if kept:
                socket.send("\n".join(kept))

        server.on_message(forward)

    page.route_web_socket(re.compile("/v1/signaling"), relay)
    page.goto(url + "/?demo")
    for end in (LEFT, RIGHT):
        expect_status(page, end, "Connected")
    send(page, LEFT, "vanishes")
    send(page, LEFT, "arrives")
    expect_messages(page, RIGHT, "arrives")
    expect(page.locator("#score")).to_have_text("2 sent · 1 lost · 0 doubled · 0 reordered")
    expect(page.locator("#score")).to_have_attribute("data-is-clean", "false")


def test_the_demo_fits_the_window(open_page, url, screenshots):
    page = open_demo(open_page, url)
    expect(page.locator("#empty-text").first).to_have_text(re.compile("^(No messages yet|You see messages)"))
    # With two users no hint says how to get a second.
    for hint in page.get_by_text("To chat with yourself").all():
        expect(hint).to_be_hidden()
    send(page, LEFT, "a message")
    expect_messages(page, RIGHT, "a message")
    for width, height, scheme in ((360, 740, "dark"), (768, 1024, "light"), (1440, 900, "dark")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        for locator in ("#cable-button", "#score", "#chat #composer-text", "#chat-2 #composer-text", "#inspector-toggle-2"):
            expect(page.locator(locator)).to_be_in_viewport(ratio=1)
        assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth"), width
        for name in ("#own-name", "#own-name-2"):
            assert page.locator(name).evaluate("each => each.parentElement.scrollWidth <= each.parentElement.clientWidth")
        page.screenshot(path=screenshots / f"demo-{width}-{scheme}.png")


def test_each_end_has_its_own_name_with_one_token_for_both(open_page, url, room):
    """A page of an application's own session: both users come with the same token."""
    page = open_page("about:blank")
    access = page.request.get(f"{url}/room/{room}?data=Ada").json()
    page.route("**/livez", lambda route: route.fulfill(json={"status": "ok"}))
    page.goto(url + "/?tools")
    for label, name in (("API key", "apiKey"), ("Session ID", "sessionId"), ("Token", "token")):
        page.get_by_label(label).fill(access[name])
    page.get_by_role("button", name="Join").click()
    expect_status(page, LEFT, "Connected")
    page.get_by_role("button", name="Two users").click()
    expect_status(page, RIGHT, "Connected")
    for end, names in ((LEFT, ["Ada", "Second user"]), (RIGHT, ["Second user", "Ada"])):
        expect(page.locator(f"#participants{end} .participant-name")).to_have_text(names)
    send(page, RIGHT, "hello")
    expect(page.locator("#chat #messages .row-name")).to_have_text("Second user")
    other = User.join(open_page, url, room, "Bob")
    expect(other.page.locator("#participants .participant-name")).to_have_text(["Bob", "Ada", "Ada"])


def test_the_users_of_a_demo_that_is_read_from_right_to_left_are_named_by_their_sides(open_page, url):
    page = open_page(url + "/?demo", locale="ar")
    left, right = (page.locator(f"#chat{end}") for end in (RIGHT, LEFT))
    expect(page.locator(f"#own-name{RIGHT}")).to_have_text("اليسار")
    expect(page.locator(f"#own-name{LEFT}")).to_have_text("اليمين")
    assert left.bounding_box()["x"] < right.bounding_box()["x"]
