// The steps and expectations of `Tests/Vectors/chat/reactions` and `chat/readers`, for `history-script.js`.

/** The calls of the channel: each answer waits in `awaited`. `note(request)` writes what was asked. */
export function reactionChannel(awaited, note) {
  const ask = (kind, request) => {
    note(request);
    return new Promise((resolve, reject) => awaited[kind].push({ resolve, reject }));
  };
  return {
    react: ({ ref, keys }) => ask('reactions', `react ${[ref, ...keys].join(' ')}`),
    reactors: ({ ref, key }) => ask('reactors', `reactors ${[ref, key].join(' ').trim()}`),
    markRead: ({ through }) => ask('markers', `read ${through}`),
  };
}

/** What each `do` does. */
export function reactionActs({ chat, clock, awaited, idOf, follow, now }) {
  const refuse = (kind, { code }) => awaited[kind].shift().reject(Object.assign(new Error('no'), { code }));
  return {
    reactions: ({ seq, ref, counts }) =>
      chat.handle({ kind: 'reactions', seq, ref, reactions: counts.map(countOf) }, now()),
    reacted: ({ seq, ref, keys }) => chat.handle({ kind: 'reacted', seq, ref, keys }, now()),
    read: ({ user, through }) => chat.handle({ kind: 'read', user, through }, now()),
    react(step) {
      follow(`react ${step.seq ?? step.localId} ${step.key}`, chat.toggleReaction(idOf(step), step.key));
    },
    acknowledgeReaction: () => awaited.reactions.shift().resolve(),
    refuseReaction: (step) => refuse('reactions', step),
    reactors(step) {
      const line = (reactors) => reactors.map(reactorsLine).join(', ');
      follow(`reactors ${step.seq}`, chat.reactors(idOf(step), step.key ?? null).then(line));
    },
    answerReactors: ({ reactors }) =>
      awaited.reactors.shift().resolve(reactors.map(([key, count, users]) => ({ key, count, users }))),
    refuseReactors: (step) => refuse('reactors', step),
    markRead: (step) => chat.markRead(step.seq === null ? null : idOf(step)),
    acknowledgeMarker: () => awaited.markers.shift().resolve(),
    refuseMarker: (step) => refuse('markers', step),
    wait: ({ ms }) => clock.advance(ms),
  };
}

/** What a step may expect. */
export function reactionsSeen(chat, messages) {
  const { receipt } = chat;
  return {
    reactions: messages.flatMap(({ message: { seq, reactions } }) => {
      const each = reactions.map(({ key, count, isMine }) => `${key} ${count}${isMine ? ' mine' : ''}`);
      return each.length === 0 ? [] : [`${seq}: ${each.join(', ')}`];
    }),
    receipt: receipt && `${chat.timeline.messageOf(receipt.id).seq}: ${receipt.users.map(userLine).join(', ')}`,
  };
}

/** The reactions of a page's message. */
export function keptReactions({ reactions, reacted }) {
  return reactions === undefined ? {} : { reactions: reactions.map(countOf), reacted };
}

function countOf([key, count]) {
  return { key, count };
}

function reactorsLine({ key, count, users }) {
  return [key, count, ...users.map(userLine)].join(' ');
}

function userLine({ user, name }) {
  return name === null ? user : `${user}=${name}`;
}
