#!/usr/bin/env node
// Writes the emoji of the chat element and their names in its languages, web-test-client/chat/emoji/list.js and
// web-test-client/chat/parts/emoji-*.js, from Unicode's data (Debian: apt-get install unicode-data unicode-cldr-core).
// Run it for a newer Unicode; `--from FOLDER` reads /usr/share/unicode below another folder.
import { readFileSync, writeFileSync } from 'node:fs';

const root = process.argv[2] === '--from' ? process.argv[3] : '';
const read = (path) => readFileSync(`${root}/usr/share/unicode/${path}`, 'utf8');
const CHAT = new URL('../../web-test-client/chat/', import.meta.url);

/** Table of texts → the languages of CLDR; a later one fills the gaps of those before. */
const LANGUAGES = {
  ar: ['ar'], de: ['de'], en: ['en'], es: ['es'], fr: ['fr'], ja: ['ja'], pt: ['pt'], 'zh-hans': ['zh'],
  'zh-hant': ['zh_Hant', 'zh'],
};

/** The newest emoji that most systems can show. */
const NEWEST = 14;

/** Signs that nobody looks for in a chat: all of the picker and the names of one language have 15 kB compressed. */
const LEFT_OUT = new Set([
  'alphanum', 'geometric', 'keycap', 'av-symbol', 'transport-sign', 'zodiac', 'religion', 'gender', 'currency', 'arrow',
  'writing', 'office', 'person-symbol', 'other-object', 'family', 'person-sport', 'person-fantasy', 'tool', 'science',
  'medical', 'household', 'place-religious', 'place-building', 'subdivision-flag', 'sound',
]);

/** The first emoji, faces and hearts, have so many more words to find them. */
const WORDS = 2;
const COUNT_WITH_WORDS = 70;

const TONE = /[\u{1F3FB}-\u{1F3FF}]/u;
const bare = (emoji) => emoji.replaceAll('\uFE0F', '');

/** The emoji by group. What differs in gender from another one is left out, and so are families. */
function groupsOf(text) {
  const groups = [];
  const all = new Set();
  let isLeftOut = false;
  for (const line of text.split('\n')) {
    const group = /^# group: (.*)$/.exec(line);
    const subgroup = /^# subgroup: (.*)$/.exec(line);
    if (subgroup) isLeftOut = LEFT_OUT.has(subgroup[1]);
    if (group) groups.push({ name: group[1], emoji: [] });
    const found = /; fully-qualified\s+# (\S+) E([\d.]+) /.exec(line);
    if (!found) continue;
    all.add(found[1]);
    if (!isLeftOut && Number(found[2]) <= NEWEST && !TONE.test(found[1])) groups.at(-1).emoji.push(found[1]);
  }
  const isOther = (emoji) =>
    /\u200D[♀♂]|^[👨👩]\u200D|^[👨👩👫👬👭]|[👪💏💑]|❤️?\u200D/u.test(emoji) && !/^[👨👩👪💏💑]$|❤️‍🔥|❤️‍🩹/u.test(emoji)
    || /[🕐-🕧]/u.test(emoji);
  const kept = groups.filter(({ name }) => name !== 'Component').map((each) => ({
    ...each,
    emoji: each.emoji.filter((emoji) => !isOther(emoji) && !(each.name === 'Flags' && /^\p{RI}/u.test(emoji))),
  }));
  const toned = (emoji) => [...bare(emoji)].toSpliced(1, 0, '\u{1F3FD}').join('');
  const hasTones = (emoji) => all.has(toned(emoji)) || all.has([...emoji].toSpliced(1, 0, '\u{1F3FD}').join(''));
  return { groups: kept, hasTones };
}

/** Emoji → `{name, words}` in one language. */
function namesIn(languages) {
  const found = new Map();
  for (const language of languages) {
    for (const folder of ['annotations', 'annotationsDerived']) {
      const text = read(`cldr/common/${folder}/${language}.xml`);
      for (const [, emoji, type, content] of text.matchAll(/<annotation cp="([^"]+)"( type="tts")?>([^<]*)</g)) {
        const entry = found.get(bare(emoji)) ?? {};
        if (type) entry.name ??= content.trim();
        else entry.words ??= content.split('|').map((each) => each.trim());
        found.set(bare(emoji), entry);
      }
    }
  }
  return found;
}

/** The words that the name does not contain, the shortest first: they are what a user types. */
function searchWords({ name, words = [] }) {
  const lower = name.toLowerCase();
  return words.filter((each) => !lower.includes(each.toLowerCase()) && !/[|;\n]/.test(each))
    .sort((a, b) => a.length - b.length).slice(0, WORDS);
}

/** What the picker says besides: the label of the search field, that of the skin tones, and an empty result. */
const TEXTS = {
  ar: ['البحث عن رمز تعبيري', 'لون البشرة', 'لم يُعثر على أي رمز.'],
  de: ['Emoji suchen', 'Hautton', 'Kein Emoji gefunden.'],
  en: ['Search emoji', 'Skin tone', 'No emoji found.'],
  es: ['Buscar emoji', 'Tono de piel', 'No se encontró ningún emoji.'],
  fr: ['Rechercher un emoji', 'Couleur de peau', 'Aucun emoji trouvé.'],
  ja: ['絵文字を検索', '肌の色', '絵文字が見つかりません。'],
  pt: ['Procurar emoji', 'Tom de pele', 'Nenhum emoji encontrado.'],
  'zh-hans': ['搜索表情符号', '肤色', '未找到表情符号。'],
  'zh-hant': ['搜尋表情符號', '膚色', '找不到表情符號。'],
};
const TONES = ['🏻', '🏼', '🏽', '🏾', '🏿'];

const { groups, hasTones } = groupsOf(read('emoji/emoji-test.txt'));
const notice = '// Made by scripts/parts/write-emoji.mjs from data of Unicode, Inc., see LICENSE.txt beside emoji/list.js.\n';
const names = Object.entries(LANGUAGES).map(([table, languages]) => [table, namesIn(languages)]);
const isNamed = (emoji) => names.every(([, entries]) => entries.get(bare(emoji))?.name !== undefined);
const listed = groups.map(({ emoji }) => emoji.filter(isNamed));
writeFileSync(new URL('emoji/list.js', CHAT), `${notice}
/** The emoji in groups, in Unicode's order. A \`+\` follows an emoji that has skin tones. */
export const EMOJI_GROUPS = [
${listed.map((emoji) => `  '${emoji.map((each) => each + (hasTones(each) ? '+' : '')).join(' ')}',`).join('\n')}
].map((group) => group.split(' '));
`);
for (const [table, entries] of names) {
  const lines = listed.flat().map((emoji, index) => {
    const entry = entries.get(bare(emoji));
    return [entry.name, ...(index < COUNT_WITH_WORDS ? searchWords(entry) : [])].join('|').replaceAll('`', "'").replaceAll('\\', '');
  });
  writeFileSync(new URL(`parts/emoji-${table}.js`, CHAT), `${notice}
/** Labels: of the search field, of the skin tones, for an empty result, and of each skin tone. */
export const EMOJI_LABELS = ${JSON.stringify([...TEXTS[table], ...TONES.map((tone) => entries.get(tone).name)])};

/** A line for each emoji of \`EMOJI_GROUPS\`: its name, and other words to find it, behind a \`|\` each. */
export const EMOJI_NAMES = \`
${lines.join('\n')}
\`;
`);
}
console.log(`${listed.flat().length} emoji`);
