// The part of `<signalbox-chat>` for moderators: their texts, and the line with what holds. See `Moderation`.
export { MODERATOR_STRINGS } from '../strings/moderators.js';
export { HeldView } from '../views/held-view.js';
