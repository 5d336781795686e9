/**
 * The sentence for a phrase of `typingPhraseLadder`: who types, or with `isPaused` who has paused. Names and the count
 * of the others are one list, so that each language joins them as it does.
 */
export function typingSentence(words, { key, names, count }, isPaused = false) {
  const kind = isPaused ? 'paused' : 'typing';
  switch (key) {
    case 'nobody':
      return '';
    case 'someone':
      return words.text(`${kind}Someone`);
    case 'several':
      return words.text(`${kind}Several`);
    case 'people':
      return words.text(`${kind}People`, { count });
    default: {
      const others = count > 0 ? [words.text('others', { count })] : [];
      const list = words.list([...names.map((name) => words.isolated(name)), ...others]);
      return words.text(`${kind}Names`, { names: { text: list }, count: names.length + count });
    }
  }
}
