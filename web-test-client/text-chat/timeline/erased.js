/** An erased message keeps its sender, its dates and its names in the order, and nothing that its sender wrote. */
export const ERASED = Object.freeze({
  isErased: true, text: 'This message was deleted.', alias: null, typingN: null, data: null,
  replyTo: null, version: null, editedAt: null, reactions: Object.freeze([]),
});
