"""Measures the test page in Chromium: what a message costs in a short and a long chat, what an event costs with a full
inspector, and how long the form takes on a slow network.

SIGNALBOX_BIN   the server's executable
WEB_ROOT        the folder with the page; default: web-test-client
CHROMIUM        the browser; default: the one of Debian
"""

import os
import pathlib
import re
import subprocess
import tempfile

from playwright.sync_api import sync_playwright

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WEB_ROOT = os.environ.get("WEB_ROOT", str(REPOSITORY / "web-test-client"))
READY = re.compile(r"https?://\S+")
MEASURED = 200

# Gives the page signals of another user, as if they came over its socket.
PEER = """
(() => {
  const Plain = WebSocket;
  window.WebSocket = class extends Plain {
    constructor(...args) { super(...args); window.socket = this; }
  };
  let seq = 1000000;
  const give = (line) => socket.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(line) }));
  window.meetPeer = () => give({ ev: 'connectionCreated', seq: ++seq,
    connection: { connectionId: 'peer', creationTime: 1700000000000, data: 'Peer' } });
  window.message = () => { seq += 1; give({ ev: 'signal', seq, from: 'peer', type: 'text-chat',
    data: JSON.stringify({ text: `message ${seq} `.repeat(1 + seq % 7), sentOn: Date.now(), localId: String(seq) }) }); };
  window.frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  window.fill = async (count) => {
    for (let n = 0; n < count; n += 1) { message(); if (n % 200 === 199) await frame(); }
    await frame();
  };
  window.measured = async (count) => { for (let n = 0; n < count; n += 1) { message(); await frame(); } };
})();
"""


def serve():
    process = subprocess.Popen(
        [os.environ["SIGNALBOX_BIN"], "serve", "--dev", "--port", "0", "--web-root", WEB_ROOT],
        stdout=subprocess.PIPE,
        text=True,
        # A server in development mode leaves its credentials there.
        env=os.environ | {"XDG_STATE_HOME": tempfile.mkdtemp(prefix="signalbox-bench-")},
    )
    for line in process.stdout:
        found = READY.search(line)
        if found:
            return process, found[0].rstrip("/")
    raise RuntimeError("the server printed no ready line")


def busy_milliseconds(cdp):
    """The time that the page's thread has spent on scripts, style and layout."""
    metrics = {each["name"]: each["value"] for each in cdp.send("Performance.getMetrics")["metrics"]}
    return 1000 * (metrics["ScriptDuration"] + metrics["LayoutDuration"] + metrics["RecalcStyleDuration"])


def joined(browser, url):
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.add_init_script(PEER)
    page.goto(url + "/?room=benchmark")
    page.get_by_role("button", name="Join").click()
    page.wait_for_selector("#status[data-state=connected]")
    page.evaluate("meetPeer()")
    # The pointer over the list would show the facts of messages.
    page.mouse.move(0, 0)
    cdp = page.context.new_cdp_session(page)
    cdp.send("Performance.enable")
    return page, cdp


def cost(page, cdp):
    """The busy time for one message and the frame that shows it."""
    before = busy_milliseconds(cdp)
    page.evaluate(f"measured({MEASURED})")
    return (busy_milliseconds(cdp) - before) / MEASURED


def rows(browser, url):
    for count in (100, 2000, 20_000):
        page, cdp = joined(browser, url)
        page.evaluate(f"fill({count})")
        kept = page.locator("#messages [data-kind=message]").count()
        print(f"a message behind {kept} rows: {cost(page, cdp):.1f} ms")
        page.context.close()


def inspector(browser, url):
    for count in (100, 10_000):
        page, cdp = joined(browser, url)
        page.get_by_role("button", name="Inspector").click()
        page.evaluate(f"fill({count})")
        lines = page.locator("#log .log-line, #log li").count()
        print(f"a message with the inspector open, {count} events, {lines} in the document: {cost(page, cdp):.1f} ms")
        page.context.close()


def form(browser, url):
    page = browser.new_context().new_page()
    cdp = page.context.new_cdp_session(page)
    cdp.send("Network.enable")
    throughput = 400_000 / 8
    cdp.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 400, "downloadThroughput": throughput, "uploadThroughput": throughput},
    )
    sizes = []
    cdp.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(url + "/", wait_until="commit")
    page.wait_for_selector("#room-fields:not([hidden])")
    milliseconds = page.evaluate("performance.now()")
    print(
        f"the form at 400 kbit/s with 400 ms round trips: {milliseconds / 1000:.1f} s, "
        f"{len(sizes)} requests, {sum(sizes) / 1000:.1f} kB"
    )
    page.context.close()


def main():
    process, url = serve()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
            )
            form(browser, url)
            rows(browser, url)
            inspector(browser, url)
    finally:
        process.terminate()
        process.wait()


main()
