// The browser's `navigator.mediaDevices` under the control of the test, which answers the question for the camera.

export class FakeCamera {
  /** The constraints of each question. */
  asked = [];
  streams = [];
  #waiting = [];

  constructor(kinds = ['audioinput', 'videoinput', 'audiooutput']) {
    this.kinds = kinds;
  }

  async enumerateDevices() {
    return this.kinds.map((kind, index) => ({ deviceId: `id${index}`, kind, label: `label${index}`, groupId: 'g' }));
  }

  getUserMedia(constraints) {
    this.asked.push(constraints);
    return new Promise((resolve, reject) => this.#waiting.push({ constraints, resolve, reject }));
  }

  grant() {
    const { constraints, resolve } = this.#waiting.shift();
    const kinds = ['audio', 'video'].filter((kind) => constraints[kind]);
    const stream = new FakeStream(kinds.map((kind) => new FakeTrack(kind)));
    this.streams.push(stream);
    resolve(stream);
  }

  refuse(name) {
    this.#waiting.shift().reject(Object.assign(new Error('the browser’s words'), { name }));
  }
}

class FakeStream {
  #tracks;

  constructor(tracks) {
    this.#tracks = tracks;
  }

  getTracks() {
    return this.#tracks;
  }

  getAudioTracks() {
    return this.#tracks.filter(({ kind }) => kind === 'audio');
  }

  getVideoTracks() {
    return this.#tracks.filter(({ kind }) => kind === 'video');
  }

  addTrack(track) {
    this.#tracks.push(track);
  }
}

export class FakeTrack {
  enabled = true;
  isStopped = false;

  constructor(kind) {
    this.kind = kind;
  }

  getSettings() {
    return { deviceId: `${this.kind}-id` };
  }

  stop() {
    this.isStopped = true;
  }
}
