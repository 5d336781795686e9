// With the option `publish=announce` the server tells the other clients which streams this one publishes (STR-1).

import { Code } from '../../client/wire/codes.js';

/** The longest name of a stream that the server accepts, in bytes. OpenTok has longer ones. */
const NAME_BYTE_COUNT = 256;

/** What the server refuses is asked again after so many milliseconds, and after twice as many each time. */
const FIRST_PAUSE = 2000;
const LONGEST_PAUSE = 30000;

/**
 * Keeps the server's list of this connection's streams like the page's own, by one request at a time with the whole list.
 *
 * `ask(streams, done)` sends one; `isConnected()` is the session's; `streams()` are those that the others should know;
 * `settled(streams, error?)` gets the outcome of a request; `later(work, milliseconds)` is a timer. A list that the server
 * refuses is asked again, for as long as it is another one than the server's: the rate passes, a moderator lifts a mute, and
 * an earlier connection of this page, which has the streams still, ends.
 */
export class Announcer {
  #work;
  #isAsking = false;
  #isStale = false;
  /** The list that the server has, as JSON. */
  #known = '[]';
  #pause = FIRST_PAUSE;
  #isWaiting = false;

  constructor(work) {
    this.#work = work;
  }

  /** The session has another connection, which has no streams. */
  renew() {
    this.#known = '[]';
    this.announce();
  }

  /** Call it after each change. */
  announce() {
    const { ask, isConnected, streams, settled } = this.#work;
    if (!isConnected()) return;
    if (this.#isAsking) {
      this.#isStale = true;
      return;
    }
    this.#isAsking = true;
    this.#isStale = false;
    const asked = streams();
    const list = asked.map(described);
    ask(list, (error) => {
      this.#isAsking = false;
      // Another connection has replaced the one that asked, and the server does not know its streams; or the session ends,
      // which its state says in a moment.
      if (error?.code === Code.notConnected) return queueMicrotask(() => this.announce());
      if (!error) {
        this.#known = JSON.stringify(list);
        this.#pause = FIRST_PAUSE;
      }
      settled(asked, error);
      if (this.#isStale) this.announce();
      else if (error) this.#announceLater();
    });
  }

  #announceLater() {
    if (this.#isWaiting || JSON.stringify(this.#work.streams().map(described)) === this.#known) return;
    this.#isWaiting = true;
    this.#work.later(() => {
      this.#isWaiting = false;
      this.announce();
    }, this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
  }
}

function described({ streamId, name, hasAudio, hasVideo, videoType, creationTime }) {
  const bytes = new TextEncoder().encode(name);
  // Without the half of a character at the end.
  const text = new TextDecoder().decode(bytes.slice(0, NAME_BYTE_COUNT));
  const short = bytes.length > NAME_BYTE_COUNT ? text.replace(/\uFFFD$/, '') : text;
  return { streamId, name: short, hasAudio, hasVideo, ...(videoType ? { videoType } : {}), creationTime };
}
