// In the script of the chat, in place of OpenTok's media calls: its own session publishes nothing, and no page gets it.
// `scripts/build web` puts the files of this folder over those of opentok/media.
import { Emitter } from '../api/emitter.js';

export class MediaCalls extends Emitter {
  constructor(shared) {
    super(shared.handlerFailed);
  }
}

const nothing = { adopt() {}, enter() {}, set() {}, end() {}, endAll: () => () => {} };

export const localPublishingOf = () => nothing;
export const remoteStreamsOf = () => nothing;
export const announces = () => false;
export const mediaCallsOfOT = () => ({});
