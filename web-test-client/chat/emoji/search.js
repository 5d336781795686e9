import { ALIASES } from './aliases.js';
import { EMOJI_GROUPS } from './list.js';

/** Without accents and case, so that “etoile” finds “étoile”. */
const folded = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** The emoji with their names in one language: `{emoji, name, hasTones, group}`. */
export class EmojiBook {
  entries = [];
  #byName = new Map();

  /** `names` is the text of a language, with a line for each emoji. */
  constructor(names) {
    const lines = names.trim().split('\n');
    for (const [group, listed] of EMOJI_GROUPS.entries()) {
      for (const each of listed) {
        const line = lines[this.entries.length] ?? '';
        const [name] = line.split('|');
        const hasTones = each.endsWith('+');
        const emoji = hasTones ? each.slice(0, -1) : each;
        this.entries.push({ emoji, name, hasTones, group, line: folded(line) });
        this.#byName.set(folded(name).replaceAll(' ', '_'), emoji);
      }
    }
    const entryOf = new Map(this.entries.map((entry) => [entry.emoji, entry]));
    for (const [alias, emoji] of Object.entries(ALIASES)) {
      const entry = entryOf.get(emoji);
      if (entry) entry.line += `|${alias.replaceAll('_', ' ')}`;
    }
  }

  /** The emoji of a whole shortcode; null: there is none of this name. */
  named(shortcode) {
    if (Object.hasOwn(ALIASES, shortcode)) return ALIASES[shortcode];
    return this.#byName.get(folded(shortcode)) ?? null;
  }

  /** The emoji with a word that begins as the text, then those that contain it: all words of it. */
  find(text) {
    const wanted = folded(text).split(/[\s_]+/).filter((each) => each !== '');
    if (wanted.length === 0) return this.entries;
    const ranked = this.entries.map((entry) => [Math.min(...wanted.map((each) => rank(entry.line, each))), entry]);
    return [3, 2, 1].flatMap((each) => ranked.filter(([found]) => found === each).map(([, entry]) => entry));
  }
}

/** 3: a name is the word; 2: a word begins so; 1: it is inside; 0: it is not there. */
function rank(line, wanted) {
  const at = ` ${line.replaceAll('|', ' | ')} `;
  if (at.includes(`| ${wanted} |`) || at.startsWith(` ${wanted} |`) || at.endsWith(`| ${wanted} `)) return 3;
  if (at.includes(` ${wanted}`)) return 2;
  return line.includes(wanted) ? 1 : 0;
}

/** The emoji with a skin tone, 0 for none, behind its first character. */
export function withTone(emoji, tone) {
  if (tone === 0) return emoji;
  const [first, ...rest] = emoji;
  return [first, String.fromCodePoint(0x1f3fa + tone), ...(rest[0] === '\uFE0F' ? rest.slice(1) : rest)].join('');
}
