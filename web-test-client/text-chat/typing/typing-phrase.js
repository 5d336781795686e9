// The sentence that says who is typing, as a key with arguments, so that it can be written in any language.

const segmenter = typeof Intl !== 'undefined' && Intl.Segmenter ? new Intl.Segmenter('en', { granularity: 'grapheme' }) : null;

const phrase = (key, names = [], count = 0) => ({ key, names, count });

/**
 * `{key, names, count}` for the `names` of those who type, first come first (empty ones are counted, not named), of `count`
 * in all. Keys: nobody, someone, one, two, three, oneAndOther(s), twoAndOther(s), people (a number and no name), several.
 *
 * Limits: up to `names` (0 to 3) people are all named, of more two and the number of the others; of more than `people` only
 * "several" is said; names are cut to `nameLength` characters as people count them.
 */
export function typingPhrase(names, { count = 0, limits = {} } = {}) {
  const { most, people, nameLength } = checked(limits);
  const all = Math.max(count, names.length);
  if (all > people && all > 1) return phrase('several');
  const shown = shownNames(names.slice(0, 3), nameLength);
  return phraseOf(all <= most ? shown : shown.slice(0, Math.min(most, 2)), all);
}

/** The same from the longest to the shortest: whole names, first names, fewer first names and a count, a count alone. */
export function typingPhraseLadder(names, { count = 0, limits = {} } = {}) {
  const { most, nameLength } = checked(limits);
  const all = Math.max(count, names.length);
  const steps = [typingPhrase(names, { count, limits })];
  if (steps[0].key === 'several') return steps;
  const firstNames = names.slice(0, 3).map((name) => name.split(/\p{White_Space}+/u).find((part) => part !== '') ?? '');
  for (let shown = most; shown >= 0; shown -= 1) {
    const step = phraseOf(shownNames(firstNames.slice(0, shown), nameLength), all);
    if (!steps.some((known) => JSON.stringify(known) === JSON.stringify(step))) steps.push(step);
  }
  return steps;
}

/** The sentence in a language; empty when nobody types. Chinese for `zh` and what begins with it, else English. */
export function typingText({ key, names, count }, language = 'en') {
  const template = (/^zh($|[-_])/i.test(language) ? CHINESE : ENGLISH)[key] ?? '';
  return template.replace(/\{(\w+)\}/g, (_, place) => (place === 'count' ? String(count) : isolated(names[Number(place)] ?? '')));
}

function checked({ names = 3, people = 20, nameLength = 30 }) {
  return { most: Math.min(Math.max(names, 0), 3), people: Math.max(people, 0), nameLength: Math.max(nameLength, 1) };
}

// What of the names does not fit is counted.
function phraseOf(shown, all) {
  const others = all - shown.length;
  switch (shown.length) {
    case 0:
      return others === 0 ? phrase('nobody') : others === 1 ? phrase('someone') : phrase('people', [], others);
    case 1:
      return others === 0 ? phrase('one', shown) : phrase(others === 1 ? 'oneAndOther' : 'oneAndOthers', shown, others);
    case 2:
      return others === 0 ? phrase('two', shown) : phrase(others === 1 ? 'twoAndOther' : 'twoAndOthers', shown, others);
    default:
      return others === 0 ? phrase('three', shown) : phrase('twoAndOthers', shown.slice(0, 2), others + shown.length - 2);
  }
}

function shownNames(names, nameLength) {
  return names.map((name) => shownName(name, nameLength)).filter((name) => name !== '');
}

// On one line, without marks that would turn the rest of the line around (embeddings, overrides and isolates of Unicode
// Standard Annex 9), not longer than the limit, and never cut inside a character.
function shownName(name, limit) {
  const text = name
    .replace(/[\u202A-\u202E\u2066-\u2069]/g, '')
    .replace(/[\p{White_Space}\u0000-\u001F]+/gu, ' ')
    .replace(/^ | $/g, '');
  const characters = segmenter ? Array.from(segmenter.segment(text), ({ segment }) => segment) : [...text];
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}

// A name with right-to-left letters keeps to itself what order it is read in.
function isolated(name) {
  const isRightToLeft =
    /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u.test(name);
  return isRightToLeft ? `\u2068${name}\u2069` : name;
}

const ENGLISH = {
  someone: 'Someone is typing…',
  one: '{0} is typing…',
  two: '{0} and {1} are typing…',
  three: '{0}, {1}, and {2} are typing…',
  oneAndOther: '{0} and 1 other are typing…',
  oneAndOthers: '{0} and {count} others are typing…',
  twoAndOther: '{0}, {1}, and 1 other are typing…',
  twoAndOthers: '{0}, {1}, and {count} others are typing…',
  people: '{count} people are typing…',
  several: 'Several people are typing…',
};

const CHINESE = {
  someone: '有人正在输入…',
  one: '{0}正在输入…',
  two: '{0}和{1}正在输入…',
  three: '{0}、{1}和{2}正在输入…',
  oneAndOther: '{0}和另外1人正在输入…',
  oneAndOthers: '{0}和另外{count}人正在输入…',
  twoAndOther: '{0}、{1}和另外1人正在输入…',
  twoAndOthers: '{0}、{1}和另外{count}人正在输入…',
  people: '{count}人正在输入…',
  several: '多人正在输入…',
};
