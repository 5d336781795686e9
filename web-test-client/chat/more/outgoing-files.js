import { make } from '../views/dom.js';
import { fileOf, textOfFile } from './file-data.js';

/** So many files are on their way at once. */
const MAX_FILES = 10;

/**
 * Files that the user sends through the page: each has a line above the field with its progress, a button to cancel, and
 * after a failure one to try again. A file that has arrived there is sent as a message.
 */
export class OutgoingFiles {
  #strip;
  #words;
  #upload;
  #send;
  #tell;
  #count = 0;

  /** `upload()` is the page's function; `send(content)` promises the outcome; `tell(text)` shows a sentence. */
  constructor(strip, { words, upload, send, tell }) {
    this.#strip = strip;
    this.#words = words;
    this.#upload = upload;
    this.#send = send;
    this.#tell = tell;
  }

  take(files) {
    for (const file of files) {
      if (this.#count >= MAX_FILES) {
        this.#tell(this.#words().text('tooManyFiles'));
        return;
      }
      this.#begin(file);
    }
  }

  #begin(file) {
    this.#count += 1;
    const words = this.#words();
    const text = make('span', { class: 'outgoing-text', role: 'status' });
    const bar = make('progress', { max: '1', 'aria-label': file.name });
    const cancel = button(words.text('cancel'));
    const again = button(words.text('tryAgain'));
    const line = make('div', { class: 'outgoing', part: 'outgoing' }, text, bar, again, cancel);
    this.#strip.append(line);
    let attempt = null;
    const end = () => {
      attempt?.abort();
      this.#count -= 1;
      line.remove();
    };
    const run = async () => {
      attempt = new AbortController();
      const { signal } = attempt;
      text.textContent = words.text('sendingFile', { name: file.name });
      again.hidden = true;
      bar.hidden = false;
      bar.removeAttribute('value');
      try {
        await this.#carryOut(file, { signal, progress: (part) => (bar.value = Math.min(1, Math.max(0, Number(part) || 0))) });
        if (!signal.aborted) end();
      } catch (error) {
        if (signal.aborted) return;
        console.error(error);
        text.textContent = words.text('fileFailed', { name: file.name });
        bar.hidden = true;
        again.hidden = false;
      }
    };
    cancel.addEventListener('click', end);
    again.addEventListener('click', run);
    run();
  }

  async #carryOut(file, { signal, progress }) {
    const [given, sides] = await Promise.all([this.#upload()(file, { signal, progress }), sidesOf(file)]);
    signal.throwIfAborted();
    const data = { file: { name: file.name, type: file.type, size: file.size, ...sides, ...given } };
    const read = fileOf(data);
    if (read === null) throw new TypeError('upload: promise an object with a url of https:.');
    const { isPicture, ...known } = read;
    const sent = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
    const { outcome, refusal } = await this.#send({ text: textOfFile(read), data: { file: sent } });
    // The element has shown why the page refuses it.
    if (outcome === 'refused' && refusal.reason !== 'byDelegate') throw new Error(`The message was refused: ${refusal.reason}`);
  }
}

/** The sides of a picture, so that receivers can reserve its place. The file stays here. */
async function sidesOf(file) {
  if (!file.type.startsWith('image/') || typeof createImageBitmap !== 'function') return {};
  try {
    const bitmap = await createImageBitmap(file);
    const { width, height } = bitmap;
    bitmap.close();
    return { width, height };
  } catch {
    return {};
  }
}

function button(text) {
  return make('button', { type: 'button', class: 'link' }, text);
}
