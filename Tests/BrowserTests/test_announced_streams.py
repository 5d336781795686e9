"""A program that finds its peers by `streamCreated`, unmodified, with the option `publish=announce`."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.reads(
    "docs/opentok-web.md", "web-test-client/opentok", "Tests/BrowserTests/fixtures/find-peers.html",
    "Tests/BrowserTests/test_announced_streams.py",
)  # fmt: skip

SCRIPT = "/v2/js/opentok.min.js?publish=announce"
EMPTY = "No audio or video: this server carries signals only."


@pytest.mark.smoke
def test_a_program_that_finds_its_peers_by_streams(open_with_camera):
    ada = open_with_camera("granted", "find-peers.html", SCRIPT, data="Ada", name="Ada")
    expect(ada.locator("#me > *")).to_have_count(1)
    ada.wait_for_function("session.streams.length() === 1")
    bob = open_with_camera("granted", "find-peers.html", SCRIPT, data="Bob", name="Bob")
    rows = lambda page: page.locator("#participants li")  # noqa: E731
    expect(rows(bob)).to_have_text(["Ada (Ada)"])
    expect(rows(ada)).to_have_text(["Bob (Bob)"])
    for page in (ada, bob):
        expect(page.locator("#videos > .OT_subscriber")).to_have_text([EMPTY])
    bob.get_by_role("button", name="Raise hand").click()
    expect(rows(ada)).to_have_text(["Bob (Bob) ✋"])
    ada.evaluate("publisher.publishAudio(false)")
    expect(rows(bob)).to_have_text(["Ada (Ada) muted"])
    ada.evaluate("session.unpublish(publisher)")
    expect(rows(bob)).to_have_count(0)
    expect(bob.locator("#videos > *")).to_have_count(0)
    bob.close()
    expect(rows(ada)).to_have_count(0)
    expect(ada.locator("#videos > *")).to_have_count(0)
    assert ada.evaluate("failures") == []
    assert len(ada.said) == 1 and "other clients learn of the stream" in ada.said[0]
