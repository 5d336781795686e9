// The sentence that states who is typing, as a key with arguments, so that it can be written in any language.

import { TYPING_PHRASE_TEMPLATES } from './typing-phrase-templates.js';

const segmenter =
  typeof Intl !== 'undefined' && Intl.Segmenter ? new Intl.Segmenter('en', { granularity: 'grapheme' }) : null;

const phrase = (key, names = [], count = 0) => ({ key, names, count });

/**
 * `{key, names, count}` for the `names` of the people who type, in order of first begin, of `count` in all. People with
 * empty names are only counted. Keys: nobody, someone, one, two, three, oneAndOther(s), twoAndOther(s), people (a count
 * without names), several.
 *
 * Limits: up to `names` (0 to 3) people are all named; of more people, two are named and the others counted. Of more
 * people than `people` the key is `several`. Names are cut to `nameLength` characters (grapheme clusters).
 * @type {(names: readonly string[], options?: TypingPhraseOptions) => TypingPhrase}
 */
export function typingPhrase(names, { count = 0, limits = {} } = {}) {
  const { most, people, nameLength } = checked(limits);
  const all = Math.max(count, names.length);
  if (all > people && all > 1) return phrase('several');
  const shown = shownNames(names.slice(0, 3), nameLength);
  return phraseOf(all <= most ? shown : shown.slice(0, Math.min(most, 2)), all);
}

/**
 * Phrases from the longest to the shortest: whole names, first names, fewer first names and a count, a count alone.
 * Show the first that fits the line.
 * @type {(names: readonly string[], options?: TypingPhraseOptions) => TypingPhrase[]}
 */
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

/**
 * The sentence in a language; empty if nobody types. Chinese for `zh` and its regions, else English.
 * @type {(phrase: TypingPhrase, language?: string) => string}
 */
export function typingText({ key, names, count }, language = 'en') {
  const template = TYPING_PHRASE_TEMPLATES[/^zh($|[-_])/i.test(language) ? 'zh' : 'en'][key] ?? '';
  const partText = (part) => (part === 'count' ? String(count) : isolated(names[Number(part)] ?? ''));
  return template.replace(/\{(\w+)\}/g, (_, part) => partText(part));
}

function checked({ names = 3, people = 20, nameLength = 30 }) {
  return { most: Math.min(Math.max(names, 0), 3), people: Math.max(people, 0), nameLength: Math.max(nameLength, 1) };
}

// Counts the people whose names do not fit.
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
      if (others === 0) return phrase('three', shown);
      return phrase('twoAndOthers', shown.slice(0, 2), others + shown.length - 2);
  }
}

function shownNames(names, nameLength) {
  return names.map((name) => shownName(name, nameLength)).filter((name) => name !== '');
}

// A name that is safe in a line with others: on one line, without marks that would reverse the rest of the line
// (embeddings, overrides and isolates of Unicode Standard Annex 9), not longer than the limit, and never cut inside a
// character.
function shownName(name, limit) {
  const text = name
    .replace(/[\u202A-\u202E\u2066-\u2069]/g, '')
    .replace(/[\p{White_Space}\u0000-\u001F]+/gu, ' ')
    .replace(/^ | $/g, '');
  const characters = segmenter ? Array.from(segmenter.segment(text), ({ segment }) => segment) : [...text];
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}

// Isolates a name with right-to-left letters, so that it does not reorder the sentence.
function isolated(name) {
  const isRightToLeft =
    /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u.test(name);
  return isRightToLeft ? `\u2068${name}\u2069` : name;
}
