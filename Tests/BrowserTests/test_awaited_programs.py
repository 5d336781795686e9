"""Programs in the style of opentok.js 2.35, which await each call."""

from playwright.sync_api import expect


def test_publish_fails_and_such_a_program_does_not_start(open_with_camera):
    """The error is the program's: it raises no `unhandledrejection`, and no message on the console."""
    page = open_with_camera("granted", "promise-chat.html")
    expect(page.locator("#events li")).to_have_text(["failed: OT_NOT_SUPPORTED 1500"])
    assert page.evaluate("[session.isConnected(), unhandled]") == [True, []]
    assert page.said == []


def test_promises_that_a_program_ignores_raise_no_unhandledrejection(open_page, url):
    page = open_page(url + "/livez", bypass_csp=True)
    reasons = page.evaluate(
        """async () => {
             const { default: OT } = await import('/opentok/index.js');
             OT.setLogLevel(OT.NONE);
             const reasons = [];
             window.addEventListener('unhandledrejection', ({ reason }) => reasons.push(String(reason)));
             const session = OT.initSession('100', '1_x');
             ['a', 'b'].map((type) => session.signal({ type }));
             session.forceDisconnect('x');
             session.forceUnpublish({});
             session.publish.promise();
             session.connect.promise('T1==');
             session.connect.promise('T1==');
             session.disconnect();
             OT.initPublisher.promise();
             OT.reportIssue();
             OT.getDevices();
             // The browser reports a rejection after the task in which it stays unhandled; this one shows that it did.
             const shown = new Promise((done) => window.addEventListener('unhandledrejection', done));
             setTimeout(() => Promise.reject(new Error('mine')));
             await shown;
             return reasons;
           }"""
    )
    assert reasons == ["Error: mine"]
    page.complaints.clear()  # the last rejection, and the missing icon of the document
