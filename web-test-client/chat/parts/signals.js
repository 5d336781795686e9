/** A tab in which the user reads the message is this much ahead of the others, in milliseconds. */
const HEAD_START = 300;

/** So long a tab holds a message, in milliseconds. */
const HOLD = 5000;

/**
 * The sound and the notice for a message of another user, in one tab of the user: the first that gets the message's lock.
 * A tab in which the user sees the chat takes it first, and is silent.
 */
export class Signals {
  #host;
  #audio = null;

  constructor(host) {
    this.#host = host;
  }

  /** The user has opened the chat: only then a browser lets a page ask, and sound. */
  ask() {
    if (this.#isOn('sound')) this.#audio ??= new AudioContext();
    if (this.#isOn('notice') && globalThis.Notification?.permission === 'default') Notification.requestPermission();
  }

  async received(message) {
    const host = this.#host;
    if (!this.#isOn('sound') && !this.#isOn('notice')) return;
    const isSeen = host.isOpen && document.hasFocus();
    if (!isSeen) await new Promise((resolve) => setTimeout(resolve, HEAD_START));
    const name = `signalbox ${host.chat.session} ${message.seq ?? message.localId}`;
    const act = () => {
      if (!isSeen) this.#give(message);
      return new Promise((resolve) => setTimeout(resolve, HOLD));
    };
    // A page without TLS has no locks.
    if (!navigator.locks) act();
    else navigator.locks.request(name, { ifAvailable: true }, (lock) => (lock === null ? null : act()));
  }

  #give(message) {
    const host = this.#host;
    if (host.hasAttribute('muted')) return;
    const event = new CustomEvent('signalbox-notice', { detail: { message }, bubbles: true, composed: true, cancelable: true });
    if (!host.dispatchEvent(event)) return;
    if (this.#isOn('sound')) this.#sound();
    if (this.#isOn('notice') && globalThis.Notification?.permission === 'granted') this.#notice(message);
  }

  /** Two short notes. */
  #sound() {
    this.#audio ??= new AudioContext();
    const { currentTime, destination } = this.#audio;
    [660, 880].forEach((pitch, index) => {
      const [note, volume] = [this.#audio.createOscillator(), this.#audio.createGain()];
      const start = currentTime + index * 0.12;
      note.frequency.value = pitch;
      volume.gain.setValueAtTime(0.12, start);
      volume.gain.exponentialRampToValueAtTime(0.001, start + 0.25);
      note.connect(volume).connect(destination);
      note.start(start);
      note.stop(start + 0.25);
    });
  }

  #notice(message) {
    const { chat } = this.#host;
    try {
      const notice = new Notification(chat.nameOf(message), { body: message.text, tag: `signalbox ${chat.session}` });
      notice.onclick = () => {
        window.focus();
        this.#host.open();
        notice.close();
      };
    } catch {
      // Browsers of phones have notices of service workers only.
    }
  }

  #isOn(name) {
    return this.#host.getAttribute(name) === 'on';
  }
}
