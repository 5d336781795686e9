"""Texts of a chat as its readers see them: what shows nothing, what shows too much, and what depends on the time."""

import datetime
import re

from playwright.sync_api import expect
from test_hostile_text import send_raw
from user import User


def test_a_text_that_shows_nothing_is_not_sent(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    for text in ("\u200b\u2060\ufeff", "\u00ad", "\u3164 \u115f", "\u2800", "\u034f", "\U000e0041"):
        ada.type(text)
        expect(ada.page.get_by_role("button", name="Send")).to_be_disabled()
        ada.page.get_by_label("Message", exact=True).press("Enter")
    ada.send("👨‍👩‍👧")
    ada.expect_messages("👨‍👩‍👧")


def test_stacked_marks_stay_inside_of_their_bubble(open_page, url, room, screenshots):
    ada = User.join(open_page, url, room, "Ada")
    ada.send("before")
    ada.send("Z" + "\u0307\u0323" * 60)
    ada.send("after")
    bubble = ada.page.locator(".bubble").nth(1)
    expect(bubble).to_have_css("overflow-y", "clip")
    assert bubble.bounding_box()["height"] < 60
    ada.page.screenshot(path=screenshots / "combining-marks.png")


def test_a_name_cannot_look_like_another_by_marks_of_direction(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    send_raw(open_page, url, room, [{"type": "text-chat", "data": '{"text":"hi"}'}], data='{"nickname":"\u202eecilA\u202c"}')
    expect(ada.page.locator(".row-name").first).to_have_text("ecilA")
    expect(ada.page.locator(".participant-name").filter(has_text="ecilA")).to_have_count(1)


def test_a_user_without_a_visible_name_is_the_same_guest_for_everybody(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    bob = User.join(open_page, url, room, "\u200b\u3164")
    bob.send("hi")
    name = ada.page.locator(".row-name").first
    expect(name).to_have_text(re.compile("^Guest [1-9][0-9]{3}$"))
    text = name.text_content()
    expect(ada.page.locator(".participant-name").nth(1)).to_have_text(text)
    expect(bob.page.locator("#own-name")).to_have_text(text)


def test_emoji_alone_are_larger(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    for text in ("🎉🎉", "🎉 well done"):
        ada.send(text)
    expect(ada.page.locator(".bubble")).to_have_count(2)
    sizes = [each.evaluate("bubble => parseFloat(getComputedStyle(bubble).fontSize)") for each in ada.page.locator(".bubble").all()]
    assert sizes[0] > 1.5 * sizes[1]


def test_the_time_of_a_message_tells_the_date_to_the_pointer(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada", timezone_id="UTC")
    ada.page.clock.set_fixed_time(datetime.datetime(2026, 3, 3, 14, 5, tzinfo=datetime.timezone.utc))
    ada.send("one")
    expect(ada.page.locator(".row-header time").first).to_have_attribute("title", "Tuesday, March 3, 2026 at 2:05:00 PM")


def test_a_mail_address_and_www_are_links_and_korean_text_after_them_is_not(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada")
    ada.send("https://example.com을 www.example.org, ada@example.net")
    links = ada.page.locator(".bubble a")
    expect(links).to_have_text(["https://example.com", "www.example.org", "ada@example.net"])
    assert [each.get_attribute("href") for each in links.all()] == [
        "https://example.com/",
        "https://www.example.org/",
        "mailto:ada@example.net",
    ]


def test_today_becomes_yesterday_at_midnight_without_a_new_message(open_page, url, room):
    ada = User.join(open_page, url, room, "Ada", timezone_id="UTC")
    page = ada.page
    page.clock.install()
    page.clock.pause_at(datetime.datetime(2030, 3, 3, 23, 59, 30, tzinfo=datetime.timezone.utc))
    page.evaluate("document.getElementById('chat').component.handle({kind: 'signal', type: 'TextChat', data: 'late', "
                  "from: {connectionId: 'x', data: 'Bob'}, seq: 1000}, Date.now())")
    day = page.locator("[data-kind=day] time")
    page.clock.run_for(1000)
    expect(day).to_have_text("Today")
    page.clock.run_for(31_000)
    expect(day).to_have_text("Yesterday")
    page.clock.run_for(24 * 3_600_000)
    expect(day).to_have_text("Sunday, March 3, 2030")
