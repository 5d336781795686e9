/**
 * The texts of the chat. `{name}` is replaced. A text with a count is an object with a text for each plural category
 * of its language, as `Intl.PluralRules` names them.
 */
export const en = {
  chat: 'Chat',
  messages: 'Messages',
  messagesHelp: 'Use the arrow keys to choose a message and see its time. Enter opens its menu.',

  // The state of the connection
  connecting: 'Connecting…',
  reconnecting: 'Reconnecting. Your messages are sent when the connection is back.',
  tryAgain: 'Try again',
  expired: 'Your link has expired. Ask for a new one.',
  revoked: 'Your access to this chat was ended. Ask for a new link.',
  refused: 'Your link is not valid. Ask for a new one.',
  wrongChat: 'This chat does not exist. Check your link, or ask for a new one.',
  full: 'This chat is full. Try again later.',
  offline: 'You are offline. Check your internet connection.',
  unreachable: 'Cannot reach {server}. Check your internet connection, and try again later.',
  noAnswer: '{server} does not answer. Try again later.',
  serverFault: 'Something is wrong with {server}. Try again later.',
  notSetUp: 'This chat is not set up correctly. Tell the owner of this page.',
  lacking: 'This chat is not set up yet: it lacks {names}.',
  blocked:
    'This page does not allow the chat to connect. Tell the owner of this page.',
  oldBrowser: 'This browser is too old for this chat. Use a newer one.',
  comesBack: '{sentence} The chat tries again by itself.',
  removed: 'You were removed from this chat.',
  lost: 'The connection was lost. You no longer receive messages.',
  ended: 'The connection has ended. You no longer receive messages.',

  // The input field
  message: 'Message',
  placeholder: 'Send a message…',
  send: 'Send',
  keys: '{enter} sends, {shift}+{enter} starts a new line',
  keyEnter: 'Enter',
  keyShift: 'Shift',
  readOnly: 'You can read this chat, but you cannot write in it.',
  charactersLeft: { one: '{count} character left', other: '{count} characters left' },
  charactersOver: { one: '{count} character over', other: '{count} characters over' },
  tooLong: {
    one: 'Too long by {count} character. Shorten it to send it.',
    other: 'Too long by {count} characters. Shorten it to send it.',
  },
  tooLarge: 'This text is too large for one message. Shorten it.',
  tooManyWaiting: 'Too many messages are waiting to be sent. Try again later.',
  noFiles: 'This chat takes text only. The file was not sent.',
  notSent: 'Not sent.',
  notConnected: 'You are not connected. Join again to send it.',

  // The messages
  you: 'You',
  guest: 'Guest {id}',
  server: 'Server',
  newMessagesBelow: 'New',
  newMessages: { one: '{count} new message', other: '{count} new messages' },
  beginning: 'This is the beginning of the conversation.',
  gap: 'The connection was interrupted. Messages may be missing here.',
  newConversation: 'A new conversation begins here. The messages above are from the last one.',
  dropped: {
    one: 'This page keeps {limit} messages. {count} older message is no longer here.',
    other: 'This page keeps {limit} messages. {count} older messages are no longer here.',
  },
  erased: 'This message was deleted.',
  reply: 'Reply',
  react: 'React',
  showMore: 'Show more',
  noMessages: 'No messages yet. Write the first one.',
  noMessagesToRead: 'No messages yet.',
  fromNowOn: 'You see messages from now on.',
  showEarlier: 'Show earlier messages',
  loadingEarlier: 'Loading earlier messages…',
  earlierFailed: 'Earlier messages could not be loaded. Try again',
  receivedAt: 'Received {time}',
  sentAt: 'Sent {time}',

  // The state of a message
  stateSending: 'Sending',
  stateWaiting: 'Waiting',
  stateSent: 'Sent',
  stateFailed: 'Not sent',
  waitingForFailed: 'Waiting for the failed message above.',
  sendWithoutIt: 'Send without it',
  discard: 'Discard',
  edit: 'Edit',
  failedTooLarge: 'Not sent: the message is too large. Shorten it.',
  failedTooFast: 'Not sent: too many messages at once. Wait a moment, then try again.',
  failedNotAllowed: 'Not sent: you cannot write in this chat.',
  failedLost: 'Perhaps not sent: the connection was lost.',
  failedOther: 'Not sent: the server did not accept the message.',

  // Users who type
  typingSomeone: 'Someone is typing…',
  typingNames: { one: '{names} is typing…', other: '{names} are typing…' },
  typingPeople: { one: '{count} person is typing…', other: '{count} people are typing…' },
  typingSeveral: 'Several people are typing…',
  pausedSomeone: 'Someone has paused',
  pausedNames: { one: '{names} has paused', other: '{names} have paused' },
  pausedPeople: { one: '{count} person has paused', other: '{count} people have paused' },
  pausedSeveral: 'Several people have paused',
  /** The last of a list of names: “Ada and 2 others”. */
  others: { one: '{count} other', other: '{count} others' },
  /** The name of the other one in a chat of two. */
  partner: '{name}',

  // What a moderator has restricted
  muted: 'You cannot write: a moderator has muted you.',
  mutedUntil: 'You cannot write until {time}: a moderator has muted you.',
  frozen: 'Only moderators can write at the moment.',
  frozenUntil: 'Only moderators can write until {time}.',
  restricted: 'You cannot write at the moment.',
  restrictedUntil: 'You cannot write until {time}.',
  banned: 'You are banned from this chat.',
  bannedUntil: 'You are banned from this chat until {time}.',
  withReason: '{sentence} Reason: {reason}',
  failedRestricted: 'Not sent: you cannot write at the moment.',

  // Users and guests
  guestMark: 'guest',
  guestMarkHelp: 'This person is not signed in. Anybody may use this name.',
  numberHelp: 'Another person here has the same name.',
  guestNamed: '{name} (guest)',

  // Moderators
  menuOfMessage: 'Menu for the message of {name}',
  menuOfOwn: 'Menu for your message',
  menuOfPerson: 'Menu for {name}',
  deleteMessage: 'Delete this message…',
  doDelete: 'Delete',
  cancel: 'Cancel',
  actionFailed: 'This did not work. Try again.',
  emoji: 'Emoji',
  attach: 'Attach a file',
};
