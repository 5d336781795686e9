// The element of a publisher on the page: a box with the local video in it. Or that of a subscriber, which has none.

/** How long a video may take to play before the publisher goes on without waiting for it, as in OpenTok. */
const PLAY_TIME = 5_000;

const SIZE = { width: 264, height: 198 };
let lastId = 0;

export class Preview {
  /** The box; undefined if the page asked for none with `insertDefaultUI: false`, or if there is no page. */
  element;
  /** Undefined until `show`. */
  video;
  #environment;
  #properties;

  constructor(environment, target, properties, className = 'OT_publisher') {
    this.#environment = environment;
    this.#properties = properties;
    const { document } = environment;
    if (!document || properties.insertDefaultUI === false) return;
    this.element = insert(document, target, properties.insertMode ?? 'replace');
    this.element.classList.add('OT_root', className);
    const { width = SIZE.width, height = SIZE.height } = properties;
    Object.assign(this.element.style, { width: length(width), height: length(height), overflow: 'hidden' });
  }

  /** Creates the video element. */
  bind(stream) {
    const { document } = this.#environment;
    if (!document) return;
    this.video = document.createElement('video');
    // Without sound, since one's own voice would come back; and then browsers let it play at once.
    Object.assign(this.video, { autoplay: true, muted: true, playsInline: true, srcObject: stream });
    this.video.className = 'OT_video-element';
    const { fitMode, mirror } = this.#properties;
    const style = { width: '100%', height: '100%', objectFit: fitMode === 'contain' ? 'contain' : 'cover' };
    if (mirror !== false) style.transform = 'scaleX(-1)';
    if (this.element) Object.assign(this.video.style, style);
    this.element?.appendChild(this.video);
  }

  /** Resolves when the video plays, or does not in time: a hidden page does not play it. */
  async playing() {
    if (!this.video) return;
    let timer;
    const late = new Promise((resolve) => (timer = this.#environment.setTimeout(resolve, PLAY_TIME)));
    await Promise.race([this.video.play().catch(() => {}), late]);
    this.#environment.clearTimeout(timer);
  }

  /** The present picture as PNG in Base64; null without one. */
  picture() {
    if (!this.video?.videoWidth) return null;
    const canvas = this.#environment.document.createElement('canvas');
    canvas.width = this.video.videoWidth;
    canvas.height = this.video.videoHeight;
    canvas.getContext('2d').drawImage(this.video, 0, 0);
    return canvas.toDataURL('image/png').replace(/^data:image\/png;base64,/, '');
  }

  remove() {
    if (this.video) this.video.srcObject = null;
    (this.element ?? this.video)?.remove();
  }
}

/**
 * `target` is an element, its id, or nothing: the end of the page. An id that is not there is given to a new box. Any
 * other object counts as nothing: programs pass their properties in its place.
 */
function insert(document, target, mode) {
  const found = typeof target === 'string' ? document.getElementById(target) : target?.nodeType === 1 ? target : null;
  if (found && mode === 'replace') {
    found.replaceChildren();
    return found;
  }
  const box = document.createElement('div');
  lastId += 1;
  box.id = !found && typeof target === 'string' && target !== '' ? target : `OT_${lastId}`;
  if (!found) document.body.appendChild(box);
  else if (mode === 'append') found.appendChild(box);
  else if (mode === 'before') found.before(box);
  else found.after(box);
  return box;
}

function length(value) {
  return typeof value === 'number' || /^\d+$/.test(value) ? `${value}px` : value;
}
