// The types of `<signalbox-chat>` in JSX for React up to version 18, which sets attributes only: the class is `class`,
// and events need `addEventListener`.
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { SignalboxChat, SignalboxChatAttributes } from './index.js';

export * from './index.js';

type Props = Omit<DetailedHTMLProps<HTMLAttributes<SignalboxChat>, SignalboxChat>, 'className'>
  & SignalboxChatAttributes & { class?: string };

declare global {
  namespace JSX {
    interface IntrinsicElements {
      'signalbox-chat': Props;
    }
  }
}
