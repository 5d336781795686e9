"""A page that keeps another library for video and has its signals here: both scripts live on one page."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.reads(
    "docs/OPENTOK.md", "docs/opentok-web.md", "web-test-client/opentok", "Tests/BrowserTests/fixtures/beside-opentok.html",
    "Tests/BrowserTests/test_beside_opentok.py",
)  # fmt: skip

SCRIPT = "/v2/js/opentok.min.js"


@pytest.mark.smoke
def test_no_conflict_gives_both_names_back_and_both_libraries_work(open_application, room):
    ada = open_application("beside-opentok.html", SCRIPT, room, data="Ada")
    expect(ada.locator("#events li")).to_have_text(["connected", "here: Ada"])
    assert ada.evaluate("[OT.whose, TB.whose, typeof Signals.initSession, Signals === OT]") == [
        "the other",
        "the other",
        "function",
        False,
    ]


def test_a_program_that_learns_of_clients_from_streams_finds_them_by_their_data(open_application, room):
    ada = open_application("beside-opentok.html", SCRIPT, room, data="Ada")
    expect(ada.locator("#events li")).to_have_text(["connected", "here: Ada"])
    bob = open_application("beside-opentok.html", SCRIPT, room, data="Bob")
    expect(bob.locator("#events li")).to_have_text(["connected", "here: Ada", "here: Bob"])
    cy = open_application("beside-opentok.html", SCRIPT, room, data="Cy")
    expect(cy.locator("#events li").last).to_have_text("here: Cy")
    stream_of = "data => video.trigger('streamCreated', { stream: { connection: { connectionId: 'other', data } } })"
    cy.evaluate(stream_of, "Ada")
    expect(cy.locator("#events li").last).to_have_text("sent to Ada")
    expect(ada.locator("#events li").last).to_have_text("Cy: hello Ada")
    cy.evaluate(stream_of, "Nobody")
    expect(cy.locator("#events li").last).to_have_text("Nobody is not in the chat")
    # A signal to all comes after the one to Ada, which therefore has not come to Bob.
    cy.evaluate("chat.signal({ type: 'welcome', data: 'all' })")
    expect(bob.locator("#events li")).to_have_text(["connected", "here: Ada", "here: Bob", "here: Cy", "Cy: all"])
