// A program in TypeScript that uses the npm package. Each compiler has to report an error for each line after
// `@ts-expect-error`, and no other.
import OT, { initSession } from 'signalbox-client';
import * as everything from 'signalbox-client';
import { SignalboxChat } from 'signalbox-client/chat';
import type { OTError, Session } from 'signalbox-client/opentok';
import {
  applyChanges, BARE_TYPE, ChatTimeline, ChatTyping, Composer, decodeSignal, encodeMessage, NameBook, newLocalId,
  OPENTOK_RULE, openTokRows, readerCalendar, SessionChannel, TextChatComponent, TYPING_PRESETS, typingChanges,
  typingPhrase, typingPhraseLadder, typingPolicy, TypingPolicyError, typingText,
} from 'signalbox-client/text-chat';
import type {
  ChangeRefusal, ChatActivity, ChatChannel, ChatMessage, SendOutcome, TimelineChange, TimelineRow, TypingSnapshot,
} from 'signalbox-client/text-chat';

const session: Session = OT.initSession('1', '1_x');
const same: OT.Session = initSession('1', '1_x');
const third: everything.Session = everything.initSession('1', '1_x');
session.signal({ data: 'x' }, (error?: OTError) => console.log(error?.name, same === session, third));

const names = new NameBook();
const rows: TimelineRow[] = [];
let snapshot: TypingSnapshot | null = null;

const typing = new ChatTyping({
  publish: (signal) => channel.send(signal),
  policy: typingPolicy('layer', { refresh: 4000 }, { isStrict: true }),
  changed(current) {
    if (snapshot !== null) for (const { typer, action } of typingChanges(snapshot, current)) console.log(typer, action);
    snapshot = current;
    const known = current.typing.map(({ name }) => name ?? '');
    console.log(typingText(typingPhrase(known, { count: current.typingCount, limits: { people: 5 } }), 'zh'));
    console.log(typingPhraseLadder(known).map((phrase) => phrase.key));
  },
});

const chat = new TextChatComponent({
  composer: new Composer({ maxLength: 500, unit: 'utf16' }),
  timeline: new ChatTimeline({ rule: OPENTOK_RULE, calendar: readerCalendar('Asia/Tokyo'), limit: 100 }),
  typing,
  wireForm: BARE_TYPE,
  onMessageReadyToSend: (message) => message.text !== '',
  changed(changes: TimelineChange[], activity: ChatActivity | null) {
    applyChanges(rows, changes);
    for (const change of changes) {
      if (change.insert) console.log(change.insert.id, change.at);
      else if (change.remove !== undefined) console.log(change.remove.length);
      else if (change.move !== undefined) console.log(change.from - change.to);
      else console.log(change.update.message.text);
    }
    switch (activity?.kind) {
      case 'messageReceived':
        console.log(activity.message.text, activity.from);
        break;
      case 'unread':
        console.log(activity.count + 1);
        break;
      case 'connectionCreated':
        names.note(activity.connection);
        break;
    }
  },
});
const channel: ChatChannel = new SessionChannel(session, (event) => chat.handle(event, Date.now()));
chat.channel = channel;

function textOf(row: TimelineRow): string {
  switch (row.kind) {
    case 'message':
      return `${names.nameOf(row.message)}: ${row.message.text} ${row.message.failure?.message} ${row.showsSender}`;
    case 'day':
      return row.day;
    case 'unreadDivider':
    case 'gap':
    case 'beginning':
      return row.kind;
  }
}

async function send(): Promise<ChatMessage | null> {
  const localId = newLocalId();
  const result: SendOutcome = await chat.send(Date.now(), localId);
  if (result.outcome === 'refused' && result.refusal.reason === 'tooLong') console.log(result.refusal.excess);
  if (result.outcome === 'failed') await chat.retry(localId);
  console.log(chat.rows.map(textOf), openTokRows(chat.rows)[0]?.message?.text, chat.markRead().length);
  return chat.timeline.ownMessage(localId);
}
send();

const data = encodeMessage({ text: 'x' });
console.log(decodeSignal({ type: 'text-chat', data, from: null, receivedAt: 0 })?.text);
for (const row of chat.rows) {
  if (row.kind !== 'message' || !chat.canEdit(row.id) || !chat.canDelete(row.id)) continue;
  const quote = chat.quoteOf(row.message);
  console.log(quote?.state === 'shown' ? quote.message.text : quote?.state === 'earlier' ? quote.seq : quote?.id);
  chat.editMessage(row.id, 'x').catch((error: ChangeRefusal) => console.log(error.reason, error.excess));
  chat.deleteMessage(row.id).then(() => chat.reply(chat.canReply(row.id) ? row.id : null));
  chat.loadQuoted(row.message).then((id) => console.log(id?.length, chat.replyTarget));
  console.log(row.message.editedAt, row.message.version, row.message.replyTo, row.message.isErased);
}
try {
  typing.policy = TYPING_PRESETS.easemob;
} catch (error) {
  if (error instanceof TypingPolicyError) console.log(error.code === 'tooLong', error.setting);
}

// A chat needs only a part of a session: OpenTok's own fits, too.
const other = {
  connection: { connectionId: 'a', creationTime: 1, data: '' },
  on: (_name: string, _handler: (event: { type: string }) => void, _context?: object) => {},
  off: (_name?: string, _handler?: (event: { type: string }) => void) => {},
  signal: (_signal: { type?: string; data?: string; to?: object }, _handler: (error?: OTError) => void) => {},
};
new SessionChannel(other, () => {});

const element: SignalboxChat = document.createElement('signalbox-chat');
element.apiKey = '100';
document.addEventListener('signalbox-message', ({ detail }) => console.log(textOf(chat.rows[0]), detail.message.text));
console.log(SignalboxChat.defaultServer, element.component === chat);

// @ts-expect-error a reason that does not exist
if (chat.refusal()?.reason === 'tired') send();
// @ts-expect-error a local id is text
chat.retry(1);
// @ts-expect-error an event has a kind
chat.handle({ type: 'signal' }, 0);
// @ts-expect-error a policy is a whole one
typing.policy = { refresh: 1 };
// @ts-expect-error rows are read-only
chat.rows = [];
