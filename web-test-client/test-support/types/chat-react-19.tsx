// A component in TypeScript for React 19, with the element's types. The compiler has to report an error for each line
// after `@ts-expect-error`, and no other.
import { useRef } from 'react';
import { SignalboxChat } from '../../chat/react';

export function Chat({ token }: { token: string | null }) {
  const chat = useRef<SignalboxChat>(null);
  return (
    <main>
      <signalbox-chat
        ref={chat}
        key="any"
        className="chat"
        session="1_x"
        api-key="100"
        token={token}
        look="opentok"
        max-length={160}
        maxLength={160}
        isTypingShown={false}
        draft="early"
        onsignalbox-unread={({ detail }) => console.log(detail.count + 1)}
        onsignalbox-send={(event) => event.preventDefault()}
      >
        <p slot="empty">Ask us.</p>
      </signalbox-chat>
      {/* @ts-expect-error there is no such look */}
      <signalbox-chat look="square" />
      {/* @ts-expect-error there is no such attribute */}
      <signalbox-chat colour="red" />
      {/* @ts-expect-error an event of another kind */}
      <signalbox-chat onsignalbox-unread={({ detail }) => console.log(detail.message)} />
    </main>
  );
}
