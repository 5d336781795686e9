/** Why a user cannot write or come in, in their language, with the time at which it ends and the moderator's reason. */
export function restrictionText(words, { kind, until, reason }, now) {
  const forms = SENTENCES[kind] ?? SENTENCES.other;
  const sentence = until === undefined
    ? words.text(forms.held)
    : words.text(forms.until, { time: { text: words.moment(until, now) } });
  return reason ? words.text('withReason', { sentence: { text: sentence }, reason }) : sentence;
}

/** What holds, as a moderator reads it. `name` is the person's. */
export function heldText(words, { kind, until }, name, now) {
  const { held, until: ending } = HELD[kind] ?? HELD.mute;
  return until === undefined
    ? words.text(held, { name })
    : words.text(ending, { name, time: { text: words.moment(until, now) } });
}

const SENTENCES = {
  mute: { held: 'muted', until: 'mutedUntil' },
  freeze: { held: 'frozen', until: 'frozenUntil' },
  ban: { held: 'banned', until: 'bannedUntil' },
  // Of a later protocol.
  other: { held: 'restricted', until: 'restrictedUntil' },
};

const HELD = {
  mute: { held: 'holdsMute', until: 'holdsMuteUntil' },
  freeze: { held: 'holdsFreeze', until: 'holdsFreezeUntil' },
  ban: { held: 'holdsBan', until: 'holdsBanUntil' },
};
