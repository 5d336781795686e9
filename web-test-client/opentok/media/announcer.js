// With the option `publish=announce` the server tells the other clients which streams this one publishes (STR-1).

import { Code } from '../../client/wire/codes.js';

/** The longest name of a stream that the server accepts, in bytes. OpenTok has longer ones. */
const NAME_BYTE_COUNT = 256;

/**
 * Keeps the server's list of this connection's streams like the page's own, by one request at a time with the whole list.
 *
 * `ask(streams, done)` sends one; `isConnected()` is the session's; `streams()` are those that the others should know;
 * `settled(streams, error?)` gets the outcome of a request.
 */
export class Announcer {
  #work;
  #isAsking = false;
  #isStale = false;

  constructor(work) {
    this.#work = work;
  }

  /** Call it after each change, and when the session has another connection. */
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
    ask(asked.map(described), (error) => {
      this.#isAsking = false;
      // Another connection has replaced the one that asked: the server does not know its streams.
      if (error?.code === Code.notConnected) this.announce();
      else {
        settled(asked, error);
        if (this.#isStale) this.announce();
      }
    });
  }
}

function described({ streamId, name, hasAudio, hasVideo, videoType, creationTime }) {
  const bytes = new TextEncoder().encode(name);
  // Without the half of a character at the end.
  const text = new TextDecoder().decode(bytes.slice(0, NAME_BYTE_COUNT));
  const short = bytes.length > NAME_BYTE_COUNT ? text.replace(/\uFFFD$/, '') : text;
  return { streamId, name: short, hasAudio, hasVideo, ...(videoType ? { videoType } : {}), creationTime };
}
