import {
  ChatTimeline, ChatTyping, Composer, OPENTOK_RULE, readerCalendar, STANDARD_RULE, TextChatComponent,
} from '../../text-chat/index.js';

/** The most messages that the element keeps. */
export const MAX_MESSAGES = 20_000;

/** Name and time are at the top of a group. */
const BUBBLE_RULE = Object.freeze({ ...STANDARD_RULE, timePosition: 'first' });
const OPENTOK_LOOK_RULE = Object.freeze({ ...OPENTOK_RULE, timePosition: 'first' });

/** Names the day of a moment, as the reader's clock has it. */
export const dayOf = readerCalendar();

/** How the look of an element groups its messages. */
export function ruleOf({ look }) {
  return look === 'opentok' ? OPENTOK_LOOK_RULE : BUBBLE_RULE;
}

/** The `TextChatComponent` of a room, with the settings of its element. */
export function makeRoomChat(host, { wireForm, policy, publish, typingChanged, maySend, handOver, changed }) {
  return new TextChatComponent({
    wireForm,
    isAdaptive: host.isAdaptive,
    composer: new Composer({ maxLength: host.maxLength }),
    timeline: new ChatTimeline({ rule: ruleOf(host), calendar: dayOf, limit: MAX_MESSAGES }),
    typing: new ChatTyping({ policy, isOptedOut: !host.isTypingShown, publish, changed: typingChanged }),
    onMessageReadyToSend: maySend,
    handOver,
    changed,
  });
}
