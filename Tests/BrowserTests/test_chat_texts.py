"""Texts of a chat as its readers see them, where the style decides. `element-messages.test.js` has the others."""

from playwright.sync_api import expect
from user import User


def test_stacked_marks_stay_inside_of_their_bubble_and_emoji_alone_are_larger(open_page, url, room, screenshots):
    ada = User.join(open_page, url, room, "Ada")
    for text in ("before", "Z" + "\u0307\u0323" * 60, "🎉🎉", "🎉 well done"):
        ada.send(text)
    bubbles = ada.page.locator(".bubble")
    expect(bubbles).to_have_count(4)
    expect(bubbles.nth(1)).to_have_css("overflow-y", "clip")
    assert bubbles.nth(1).bounding_box()["height"] < 60
    sizes = [each.evaluate("bubble => parseFloat(getComputedStyle(bubble).fontSize)") for each in bubbles.all()]
    assert sizes[2] > 1.5 * sizes[3]
    ada.page.screenshot(path=screenshots / "combining-marks.png")
