// The types of `<signalbox-chat>` in JSX for React 19, which sets properties, and listens to the element's events.
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { SignalboxChat, SignalboxChatAttributes, SignalboxChatEventMap } from './index.js';

export * from './index.js';

type Properties = 'apiKey' | 'senderId' | 'maxLength' | 'isTypingShown' | 'isAdaptive' | 'hasEmoji' | 'hasMarkup' | 'typingPolicy' | 'wireForm' | 'draft';

type Handlers = { [Name in keyof SignalboxChatEventMap as `on${Name}`]?: (event: SignalboxChatEventMap[Name]) => void };

type Props = DetailedHTMLProps<HTMLAttributes<SignalboxChat>, SignalboxChat>
  & SignalboxChatAttributes & Partial<Pick<SignalboxChat, Properties>> & Handlers;

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'signalbox-chat': Props;
    }
  }
}
