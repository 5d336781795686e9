// In the script of the chat, in place of what only pages use of OpenTok's names: no page gets its `OT`.
// `scripts/build web` puts the files of this folder over those of opentok/api.
export const helpers = () => null;
