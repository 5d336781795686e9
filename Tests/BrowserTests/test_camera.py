"""Pages that wait for their camera before they connect: a publisher shows it, and its stream stays in the page."""

import base64

from playwright.sync_api import expect

SCRIPT = "/v2/js/opentok.min.js"
PLAYING = "document.querySelector('video').readyState > 1 && !document.querySelector('video').paused"


def test_a_page_that_connects_when_its_camera_is_granted_connects(open_with_camera):
    page = open_with_camera("granted")
    events = page.locator("#events li")
    expect(events).to_have_text(
        [
            "accessAllowed", "video element: VIDEO", "connected", "published", "signal: hello",
        ]
    )  # fmt: skip
    box = page.locator("#publisher > .OT_publisher")
    expect(box).to_have_css("height", "150px")
    page.wait_for_function(PLAYING)
    assert page.evaluate("[publisher.element === document.querySelector('.OT_publisher'), publisher.videoWidth()]") == [
        True,
        640,
    ]
    assert base64.b64decode(page.evaluate("publisher.getImgData()")).startswith(b"\x89PNG")
    assert page.evaluate("OT.publishers.find().videoElement().muted"), "nobody hears their own voice"

    track = page.evaluate_handle("publisher.getVideoSource().track")
    page.evaluate("publisher.destroy()")
    expect(page.locator(".OT_publisher")).to_have_count(0)
    expect(events.last).to_have_text("destroyed")
    assert track.evaluate("track => track.readyState") == "ended"


def test_a_user_who_refuses_the_camera_is_told_in_the_page(open_with_camera):
    page = open_with_camera("refused")
    expect(page.locator("#events li")).to_have_text(["no camera: OT_USER_MEDIA_ACCESS_DENIED", "accessDenied"])
    expect(page.locator(".OT_publisher")).to_have_count(0)


def test_a_machine_without_a_camera_is_an_error_and_an_exception(open_application, room):
    page = open_application("camera-first.html", SCRIPT, room)
    expect(page.locator("#events li")).to_have_text(["exception 1500 GetUserMedia", "no camera: OT_NO_DEVICES_FOUND"])


PLACES = {
    "{}": "<main><div id=target class=OT>",
    "{insertMode: 'append'}": "<main><div id=target><b>old</b><div class=OT>",
    "{insertMode: 'before'}": "<main><div class=OT><div id=target><b>old</b>",
    "{insertMode: 'after'}": "<main><div id=target><b>old</b><div class=OT>",
    "{insertDefaultUI: false}": "<main><div id=target><b>old</b>",
}


def test_the_element_of_a_publisher_is_where_the_page_wants_it(open_with_camera):
    page = open_with_camera("granted")
    expect(page.locator("#events")).to_contain_text("connected")
    for options, expected in PLACES.items():
        found = page.evaluate(
            """async options => {
                 publisher.destroy();
                 document.body.innerHTML = '<main><div id="target"><b>old</b></div></main>';
                 let created = null;
                 await new Promise((done, fail) => {
                   window.publisher = OT.initPublisher('target', options, (error) => error ? fail(error) : done());
                   window.publisher.on('videoElementCreated', ({ element }) => created = element);
                 });
                 const box = document.querySelector('.OT_publisher');
                 const tagOf = (element) => element.matches('.OT_publisher')
                   ? `<div${element.id === 'target' ? ' id=target' : ''} class=OT>`
                   : element.id ? `<div id=${element.id}>` : `<${element.localName}>`;
                 const text = [];
                 const visit = (element) => {
                   if (element.localName === 'video') return;
                   text.push(element.localName === 'b' ? '<b>old</b>' : tagOf(element));
                   [...element.children].forEach(visit);
                 };
                 visit(document.querySelector('main'));
                 return [text.join(''), created.localName, box === null || box.contains(created)];
               }""",
            page.evaluate_handle(f"({options})"),
        )
        assert found == [expected, "video", True], options


def test_an_object_in_place_of_the_target_is_no_target(open_with_camera):
    """Published programs call `OT.initPublisher({insertDefaultUI: false}, handler)`."""
    page = open_with_camera("granted")
    expect(page.locator("#events")).to_contain_text("published")
    page.evaluate(
        """() => {
             publisher.destroy();
             window.other = OT.initPublisher({ insertDefaultUI: false }, (error) => window.outcome = error?.name ?? 'shown');
           }"""
    )
    page.wait_for_function("window.outcome")
    assert page.evaluate("[outcome, other.element.parentElement === document.body]") == ["shown", True]
    assert len(page.said) == 1 and "stays in this page" in page.said[0]
