// The chat without a page, as an ES module:
// `import { TextChatComponent } from 'https://your.server/text-chat/index.js'`.
// `scripts/parts/declare-types.mjs` makes its types, `index.d.ts`. The other files of this folder may change in any
// version.
export { TextChatComponent } from './text-chat-component.js';
export { SessionChannel } from './session-channel.js';
export { NameBook } from './name-book.js';
export { displayName } from './display-name.js';
export { newLocalId } from './local-id.js';

export { Composer } from './sending/composer.js';

export { ChatTimeline } from './timeline/chat-timeline.js';
export { OPENTOK_RULE, STANDARD_RULE } from './timeline/grouping-rule.js';
export { openTokRows } from './timeline/open-tok-row.js';
export { readerCalendar } from './timeline/reader-calendar.js';
export { applyChanges } from './timeline/timeline-change.js';

export { ChatTyping } from './typing/chat-typing.js';
export { typingPhrase, typingPhraseLadder, typingText } from './typing/typing-phrase.js';
export { TypingPolicyError, typingPolicy } from './typing/typing-policy.js';
export { TYPING_PRESETS } from './typing/typing-presets.js';
export { typingChanges } from './typing/typing-snapshot.js';

export { BARE_TYPE, CHAT_TYPE, decodeSignal, encodeMessage } from './wire/chat-wire-form.js';
