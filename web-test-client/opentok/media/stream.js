import { Emitter } from '../api/emitter.js';

/**
 * A stream of this page's own publisher, unless the option is `publish=fail`; or one that another client announces, with
 * `publish=announce`. No client gets its audio or video.
 */
export class Stream extends Emitter {
  constructor({ id, connection, ...facts }, handlerFailed) {
    super(handlerFailed);
    this.id = id;
    this.streamId = id;
    this.connection = connection;
    this.creationTime = facts.creationTime ?? Date.now();
    this.name = facts.name;
    this.initials = facts.initials;
    this.hasAudio = facts.hasAudio;
    this.hasVideo = facts.hasVideo;
    this.videoType = facts.videoType;
    this.videoDimensions = facts.videoDimensions;
    this.frameRate = facts.frameRate;
  }
}

/** A UUID, as OpenTok's streams have one, and as `OT.$.uuid` makes them. `crypto.randomUUID` is missing on pages without https. */
export function newStreamId(random) {
  const digits = (count) => Array.from({ length: count }, () => Math.floor(random() * 16).toString(16)).join('');
  return [digits(8), digits(4), `4${digits(3)}`, `8${digits(3)}`, digits(12)].join('-');
}
