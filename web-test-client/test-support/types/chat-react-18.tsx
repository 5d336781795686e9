// A component in TypeScript for React 18, with the element's types. The compiler has to report an error for each line
// after `@ts-expect-error`, and no other.
import { useEffect, useRef } from 'react';
import { SignalboxChat } from '../../chat/react-18';

export function Chat({ token }: { token: string | null }) {
  const chat = useRef<SignalboxChat>(null);
  useEffect(() => chat.current?.addEventListener('signalbox-unread', ({ detail }) => console.log(detail.count + 1)));
  return (
    <main>
      <signalbox-chat ref={chat} key="any" class="chat" session="1_x" api-key="100" token={token} max-length={160}>
        <p slot="empty">Ask us.</p>
      </signalbox-chat>
      {/* @ts-expect-error React 18 would set the attribute `maxlength` */}
      <signalbox-chat maxLength={160} />
      {/* @ts-expect-error React 18 would set the attribute `classname` */}
      <signalbox-chat className="chat" />
      {/* @ts-expect-error there is no such look */}
      <signalbox-chat look="square" />
    </main>
  );
}
