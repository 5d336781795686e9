import { make } from './dom.js';

/**
 * The elements inside of `<signalbox-chat>`; `writeWords` writes their texts. `part` attributes are what a page may style; slots are what it may replace.
 */
export function chatTemplate() {
  return make('div', { class: 'base' }, frame());
}

function frame() {
  return make(
    'section',
    { id: 'chat-frame', class: 'chat', 'data-word-label': 'chat' },
    make('slot', { name: 'header' }),
    moderationLine(),
    make(
      'p',
      { id: 'chat-status', class: 'chat-status', part: 'status', role: 'status', hidden: '' },
      make('span', { id: 'chat-status-text' }),
      make('button', { id: 'chat-retry', type: 'button', class: 'link', hidden: '', 'data-word': 'tryAgain' }),
    ),
    make(
      'div',
      { class: 'messages-frame' },
      make(
        'div',
        {
          id: 'messages-scroll',
          class: 'messages-scroll',
          part: 'messages',
          tabindex: '0',
          role: 'log',
          'aria-live': 'polite',
          'aria-relevant': 'additions',
          'data-word-label': 'messages',
          'data-word-description': 'messagesHelp',
        },
        make('p', { id: 'messages-dropped', class: 'dropped', role: 'note', hidden: '' }),
        make(
          'div',
          { class: 'earlier-line', 'aria-live': 'off' },
          make('button', { id: 'earlier', type: 'button', class: 'link', part: 'earlier', hidden: '' }),
        ),
        make(
          'div',
          { id: 'empty', class: 'empty', part: 'empty' },
          make('slot', { name: 'empty' }, make('span', { id: 'empty-text' })),
        ),
        make('div', { id: 'messages', class: 'messages', role: 'list' }),
      ),
      make('div', { id: 'list-end', class: 'list-end' }),
      make('p', { id: 'message-facts', class: 'message-facts', part: 'facts', hidden: '' }),
      make('p', { id: 'back-report', class: 'back-report', role: 'status', hidden: '' }),
      make(
        'p',
        { id: 'offline-hint', class: 'offline-hint', role: 'status', hidden: '', 'data-word': 'reconnecting' },
      ),
      make('button', { id: 'new-messages', type: 'button', class: 'new-messages', part: 'new-messages', hidden: '' }),
    ),
    make(
      'p',
      { id: 'typing', class: 'typing', part: 'typing', 'data-state': 'nobody' },
      make('span', { class: 'typing-dots', 'aria-hidden': 'true' }, make('i'), make('i'), make('i')),
      make('span', { id: 'typing-text', class: 'typing-text', role: 'status' }),
    ),
    make(
      'form',
      { id: 'composer', class: 'composer', part: 'composer', novalidate: '' },
      make('p', { id: 'restriction', class: 'restriction', part: 'restriction', role: 'status', dir: 'auto' }),
      make('label', { for: 'composer-text', class: 'visually-hidden', 'data-word': 'message' }),
      make('textarea', {
        id: 'composer-text',
        part: 'input',
        rows: '1',
        dir: 'auto',
        'aria-describedby': 'composer-keys remaining',
        enterkeyhint: 'send',
      }),
      make(
        'div',
        { id: 'tools', class: 'composer-tools' },
        tool({ id: 'attach', part: 'attach', 'data-word-label': 'attach' }, PAPERCLIP),
        tool({ id: 'emoji', part: 'emoji', 'data-word-label': 'emoji' }, SMILE),
      ),
      make('button', { id: 'send', type: 'submit', class: 'primary', part: 'send', disabled: '', 'data-word': 'send' }),
      make(
        'p',
        { class: 'composer-foot' },
        make('span', { id: 'composer-keys', class: 'keys' }),
        make('span', { id: 'composer-hint', class: 'composer-hint', role: 'status' }),
        make('span', { id: 'remaining', class: 'remaining', part: 'counter' }),
      ),
    ),
    make('slot', { name: 'footer' }),
    make('div', { id: 'action-menu', class: 'action-menu', part: 'menu', popover: '', role: 'menu' }),
    question(),
  );
}

/** The paths of the icons, in a square of 24. */
const PAPERCLIP = 'M20 11.5l-8.2 8.2a5.5 5.5 0 0 1-7.8-7.8l8.6-8.6a3.7 3.7 0 0 1 5.2 5.2l-8.6 8.6a1.8 1.8 0 0 1-2.6-2.6l7.9-7.9';
const SMILE = 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0zM8.2 14.2a4.5 4.5 0 0 0 7.6 0M9 9.5v.01M15 9.5v.01';

/** A button beside the field with an icon, hidden until it can do something. */
function tool(attributes, path) {
  const svg = (tag, attributes) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const icon = svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' });
  icon.append(svg('path', { d: path }));
  const word = attributes['data-word-label'];
  return make('button', { type: 'button', class: 'tool', hidden: '', 'data-word-title': word, ...attributes }, icon);
}

/** What holds, for moderators. */
function moderationLine() {
  return make(
    'div',
    { id: 'moderation', class: 'moderation', part: 'moderation', hidden: '' },
    make('button', {
      id: 'moderation-toggle',
      type: 'button',
      class: 'plain',
      'aria-expanded': 'false',
      'aria-controls': 'moderation-panel',
    }),
    make(
      'div',
      {
        id: 'moderation-panel', class: 'moderation-panel', role: 'group', hidden: '',
      },
      make('ul', { id: 'held', class: 'held', 'aria-live': 'polite' }),
      make('button', { id: 'freeze', type: 'button', class: 'plain' }),
    ),
  );
}

function question() {
  return make(
    'dialog',
    {
      id: 'question',
      class: 'question',
      part: 'question',
      'aria-labelledby': 'question-title',
      'aria-describedby': 'question-text',
    },
    make('h3', { id: 'question-title', dir: 'auto' }),
    make('p', { id: 'question-text', dir: 'auto' }),
    make(
      'label',
      { id: 'question-reason-line', class: 'question-line' },
      make('span', { id: 'question-reason-label', dir: 'auto' }),
      make('input', { id: 'question-reason', type: 'text', dir: 'auto', autocomplete: 'off' }),
    ),
    make(
      'label',
      { id: 'question-also-line', class: 'question-check' },
      make('input', { id: 'question-also', type: 'checkbox' }),
      make('span', { id: 'question-also-label', dir: 'auto' }),
    ),
    make(
      'div',
      { class: 'question-buttons' },
      make('button', { id: 'question-no', type: 'button', class: 'plain', 'data-word': 'cancel' }),
      make('button', { id: 'question-yes', type: 'button', class: 'primary' }),
    ),
  );
}
