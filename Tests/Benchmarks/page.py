"""Measures the test page in Chromium: what a message costs in a short and a long chat, what an event costs with a full
inspector, how long the form takes on a slow network, how a chat of 20,000 messages scrolls, and whether a user can type
while 5,000 messages a second arrive.

SIGNALBOX_BIN   the server's executable
LOADGEN         the load generator (Tests/Benchmarks/loadgen.cpp)
WEB_ROOT        the folder with the page; default: web-test-client
CHROMIUM        the browser; default: the one of Debian
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time
import urllib.request

from playwright.sync_api import sync_playwright

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WEB_ROOT = os.environ.get("WEB_ROOT", str(REPOSITORY / "web-test-client"))
READY = re.compile(r"https?://\S+")
MEASURED = 200

# The page has missed several frames before one takes this long, in milliseconds.
LONG_FRAME = 50

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

# Measures every frame. A page that has nothing to show would have none, so this costs time by itself.
WATCH_FRAMES = """
(() => {
  const frames = [];
  let last = performance.now(), isOn = true;
  const tick = (now) => { frames.push(now - last); last = now; if (isOn) requestAnimationFrame(tick); };
  requestAnimationFrame((now) => { last = now; requestAnimationFrame(tick); });
  window.watchedFrames = () => {
    isOn = false;
    return frames;
  };
})();
"""

# Measures how long each key waits until the frame that shows it is painted. Event Timing would not do: in headless
# Chromium its durations are seconds for some keys, while a screencast shows each key in its frame.
WATCH_KEYS = """
(() => {
  const keys = [], tasks = [];
  addEventListener('keydown', ({ timeStamp }) => {
    // Both a message that is posted in a frame and the next frame come after the frame is painted.
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      let isPainted = false;
      const painted = () => {
        if (!isPainted) keys.push(performance.now() - timeStamp);
        isPainted = true;
      };
      port1.onmessage = painted;
      port2.postMessage(null);
      requestAnimationFrame(painted);
    });
  }, true);
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' });
  window.watchedKeys = () => ({ tasks, keys });
})();
"""

# How many chat messages the page has shown: those of the list and those that it has dropped from its top.
SHOWN = """
(() => {
  const chat = document.querySelector('signalbox-chat');
  const dropped = chat.shadowRoot.querySelector('[id^=messages-dropped]');
  const gone = dropped.hidden ? 0 : Number(/messages\\. (\\S+) older/.exec(dropped.textContent)[1].replaceAll(',', ''));
  return gone + chat.component.timeline.messageCount;
})()
"""

GAPS = """
document.querySelector('signalbox-chat').component.rows.filter(({ kind }) => kind === 'gap').length
"""

ELEMENTS = """
document.querySelectorAll('*').length + document.querySelector('signalbox-chat').shadowRoot.querySelectorAll('*').length
"""

CHAT = pathlib.Path(__file__).resolve().parent / "dialects/chat.dialect"


def serve():
    process = subprocess.Popen(
        [os.environ["SIGNALBOX_BIN"], "serve", "--dev", "--port", "0", "--web-root", WEB_ROOT, "--signal-rate", "0"],
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


def page_thread_seconds():
    """The CPU time of the busiest thread that runs a page. Other load on the machine does not change it much."""
    ticks = [0]
    for path in pathlib.Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, fields = path.read_text().partition("(")[2].rpartition(")")
            # The main thread of a renderer bears the name of its program.
            if name.startswith("chromium") and b"--type=renderer" in (path.parents[2] / "cmdline").read_bytes():
                ticks.append(sum(map(int, fields.split()[11:13])))
    return max(ticks) / os.sysconf("SC_CLK_TCK")


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
        kept = page.evaluate("document.querySelector('signalbox-chat').component.timeline.messageCount")
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


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def told(frames):
    slow = [each for each in frames if each > LONG_FRAME]
    return (f"frames: median {statistics.median(frames):.0f} ms, 99 % up to {percentile(frames, 0.99):.0f} ms, "
            f"longest {max(frames):.0f} ms, {len(slow)} of {len(frames)} over {LONG_FRAME} ms")


def scrolling(browser, url):
    """Scrolls through a full list, a wheel notch for each frame, and jumps to its ends."""
    page, cdp = joined(browser, url)
    page.evaluate("fill(20_000)")
    page.locator("#messages-scroll").hover()
    page.evaluate(WATCH_FRAMES)
    for step in range(300):
        page.mouse.wheel(0, -300 if step % 100 else 200_000 * (1 if step // 100 % 2 else -1))
    page.evaluate("frame()")
    frames = page.evaluate("watchedFrames()")
    nodes = page.evaluate(ELEMENTS)
    print(f"scrolling through 20,000 messages, {nodes} elements in the document: {told(frames)}")
    page.context.close()


def flood(browser, url, rate, seconds, shows_inspector):
    """Types while several senders give the page chat messages over the server."""
    # The page's policy forbids the expressions with which Playwright waits.
    page = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True).new_page()
    page.goto(url + "/?room=flood")
    page.get_by_role("button", name="Join").click()
    page.wait_for_selector("#status[data-state=connected]")
    if shows_inspector:
        page.get_by_role("button", name="Inspector").click()
    access = json.load(urllib.request.urlopen(url + "/room/flood?data=Load"))
    with tempfile.TemporaryDirectory() as folder:
        rooms = pathlib.Path(folder, "rooms")
        rooms.write_text(f"key={access['apiKey']} session={access['sessionId']} token={access['token']}\n")
        generator = subprocess.Popen(
            [os.environ["LOADGEN"], "rooms", "--members", "5", "--dialect", CHAT, "--room-vars", rooms,
             "--port", url.rpartition(":")[2], "--rate", str(rate), "--duration", str(seconds), "--warmup", "0"],
            stdout=subprocess.PIPE, text=True)
        page.wait_for_function(f"{SHOWN} > {rate // 4}")
        page.locator("#composer-text").focus()
        page.evaluate(WATCH_KEYS)
        first, began = page.evaluate(SHOWN), page_thread_seconds()
        # For most of the load, with 20 keys a second.
        end = time.monotonic() + 0.8 * seconds
        while time.monotonic() < end:
            page.keyboard.type("The quick ", delay=50)
        seen, handled, spent = page.evaluate("watchedKeys()"), page.evaluate(SHOWN) - first, page_thread_seconds() - began
        result = json.loads(generator.communicate()[0])
        # All are shown when the number has not changed for a second.
        shown, before = page.evaluate(SHOWN), -1
        while shown != before:
            page.evaluate("new Promise((done) => setTimeout(done, 1000))")
            shown, before = page.evaluate(SHOWN), shown
        gaps = page.evaluate(GAPS)
    keys = seen["keys"]
    print(f"{rate} messages a second{', inspector open' if shows_inspector else ''}: {result['published']} sent, "
          f"{shown} shown, {gaps} gaps; from a key to its frame: median {statistics.median(keys):.0f} ms, "
          f"99 % up to {percentile(keys, 0.99):.0f} ms, longest {max(keys):.0f} ms ({len(keys)} keys); "
          f"{len(seen['tasks'])} tasks over 50 ms; {1_000_000 * spent / max(1, handled):.0f} µs of CPU a message")
    page.context.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=["form", "rows", "inspector", "scrolling", "flood"])
    parser.add_argument("--rate", type=int, default=5000, help="messages a second of the flood")
    parser.add_argument("--seconds", type=int, default=10, help="of the flood")
    arguments = parser.parse_args()
    parts = arguments.part or ["form", "rows", "inspector", "scrolling", "flood"]
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    process, url = serve()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
            )
            for part in parts:
                if part == "flood":
                    for shows_inspector in (False, True):
                        flood(browser, url, arguments.rate, arguments.seconds, shows_inspector)
                else:
                    globals()[part](browser, url)
    finally:
        process.terminate()
        process.wait()


main()
