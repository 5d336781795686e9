/**
 * The author of a message, as a text that no other author has: the sender's user, or a guest's connection (CHAT-4).
 * Null: unknown.
 */
export function authorOf({ user = null, senderId = null }) {
  if (user !== null) return `user ${user}`;
  return senderId === null ? null : `connection ${senderId}`;
}
