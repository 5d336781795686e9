// The part of `<signalbox-chat>` for moderators: their texts, what they can do, and the line with what holds. See
// `Moderation`.
export { ModeratorItems } from '../room/moderator-items.js';
export { MODERATOR_STRINGS } from '../strings/moderators.js';
export { MODERATORS_STYLE } from '../style/moderators-style.js';
export { HeldView } from '../views/held-view.js';
