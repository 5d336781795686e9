import { bob, connectedMessage } from './fakes/fake-browser.js';

/** A server with one session and one connection. It follows RES-1 to RES-9 and keeps everything. */
export class ModelServer {
  log = [];
  #secrets = [];
  #answers = new Map();

  /** The server's answers to a message, on the same socket. */
  receive(message) {
    if (message.op === 'connect') return this.#connect(message);
    // A message on the newest socket ends the validity of the older secret (RES-6).
    this.#secrets = this.#secrets.slice(-1);
    return message.op === 'signal' ? this.#signal(message) : [];
  }

  #connect({ id, resume }) {
    if (resume && !this.#secrets.includes(resume.secret)) throw new Error('The secret of the resume is not valid.');
    this.#secrets.push(`secret ${id}`);
    const seq = resume?.after ?? this.log.length;
    const outcome = resume ? 'resumed' : 'new';
    const offer = { secret: `secret ${id}`, resumeSeconds: 60, recoverySeconds: 300 };
    const events = this.log.filter((event) => event.seq > seq);
    return [
      connectedMessage({ id, outcome, seq, connections: [bob], resume: offer, replayThrough: this.log.length }),
      ...events,
    ];
  }

  #signal({ id, data }) {
    const known = this.#answers.get(id);
    if (known) return [known];
    const event = { ev: 'signal', seq: this.log.length + 1, from: 'bob-id', data };
    const answer = { ev: 'ack', id, seq: event.seq };
    this.log.push(event);
    this.#answers.set(id, answer);
    return [event, answer];
  }
}
