/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** Languages that are written from right to left in their usual script. */
const RIGHT_TO_LEFT_LANGUAGES = new Set('ar ckb dv fa he iw nqo ps sd syr ug ur yi'.split(' '));
const RIGHT_TO_LEFT_SCRIPTS = new Set('Adlm Arab Hebr Nkoo Rohg Syrc Thaa'.split(' '));

/** Where Chinese is written in traditional characters unless the tag names a script. */
const TRADITIONAL_REGIONS = new Set(['TW', 'HK', 'MO']);

const ENGLISH = 'en';

/**
 * The texts of a view in one language, and what `Intl` writes in it.
 *
 * `language` is a language tag, as in `lang`; `tables` has the built-in texts by language, and English has all of them.
 * `own` are the program's texts: they have precedence, key by key. A text is a string, or an object with one for each
 * plural category; `{name}` in it is replaced.
 *
 * A language without a table, and without texts of the program, is English as a whole: dates in another language than
 * the sentences around them help nobody.
 */
export class Words {
  /** The language of the texts, for `lang`. */
  language;
  /** `ltr` or `rtl`. */
  direction;
  #tables;
  #table;
  #own;
  #formats = new Map();
  #locale;

  constructor(language, tables, { own = null, preferred = [] } = {}) {
    const tag = canonical(language);
    const table = tag === null ? null : tables[tableIn(tag)];
    this.#own = own ?? {};
    this.#tables = tables;
    this.#table = table ?? tables.en;
    const isKnown = tag !== null && (table !== undefined || Object.keys(this.#own).length > 0);
    this.language = isKnown ? tag : ENGLISH;
    this.direction = directionOf(this.language);
    this.#locale = localeOf(this.language, preferred);
  }

  /** The text for a key. `count` chooses the plural; numbers are written as the language does. */
  text(key, values = {}) {
    const [entry, language] = this.#entry(key);
    const text = typeof entry === 'string' ? entry : (entry[this.#plural(language, values.count)] ?? entry.other);
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? this.#written(values[name]) : whole));
  }

  /** The text for a key in parts, `{text}` or `{name}` where something has to be inserted. */
  parts(key) {
    return this.text(key).split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? { text: part } : { name: part }));
  }

  /** “Ada, Bo, and Cy”. */
  list(items) {
    return this.#format('list', () => new Intl.ListFormat(this.#locale, { type: 'conjunction' })).format(items);
  }

  time(milliseconds) {
    const options = { hour: '2-digit', minute: '2-digit' };
    return this.#format('time', () => new Intl.DateTimeFormat(this.#locale, options)).format(milliseconds);
  }

  dayAndTime(milliseconds) {
    const options = { dateStyle: 'full', timeStyle: 'medium' };
    return this.#format('dayAndTime', () => new Intl.DateTimeFormat(this.#locale, options)).format(milliseconds);
  }

  day(milliseconds) {
    const options = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' };
    return this.#format('day', () => new Intl.DateTimeFormat(this.#locale, options)).format(milliseconds);
  }

  /** A moment of today by its time, another one with its date. */
  moment(milliseconds, now) {
    if (new Date(milliseconds).toDateString() === new Date(now).toDateString()) return this.time(milliseconds);
    const options = { dateStyle: 'medium', timeStyle: 'short' };
    return this.#format('moment', () => new Intl.DateTimeFormat(this.#locale, options)).format(milliseconds);
  }

  /** “10 minutes”, “1 hour” */
  duration(seconds) {
    const [unit, count] = seconds % 3600 === 0 ? ['hour', seconds / 3600] : ['minute', seconds / 60];
    const options = { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 };
    return this.#format(unit, () => new Intl.NumberFormat(this.#locale, options)).format(count);
  }

  /** “0.4 seconds” */
  seconds(count) {
    const options = { style: 'unit', unit: 'second', unitDisplay: 'long', maximumFractionDigits: 1 };
    return this.#format('seconds', () => new Intl.NumberFormat(this.#locale, options)).format(count);
  }

  /** “Today” for 0, “Yesterday” for -1. */
  relativeDay(offset) {
    const format = this.#format('relative', () => new Intl.RelativeTimeFormat(this.#locale, { numeric: 'auto' }));
    const text = format.format(offset, 'day');
    return text.charAt(0).toLocaleUpperCase(this.language) + text.slice(1);
  }

  /** A name, or another text of a stranger, that may run against the sentence: it must not reorder it. */
  isolated(text) {
    const isAgainst = this.direction === 'rtl' || RIGHT_TO_LEFT.test(text);
    return isAgainst ? `\u2068${text}\u2069` : text;
  }

  /** The text with the language whose plural rules it follows. A program may have given anything. */
  #entry(key) {
    const own = this.#own[key];
    if (isText(own)) return [own, this.language];
    const built = this.#table[key];
    return built === undefined ? [this.#tables.en[key], ENGLISH] : [built, this.#table === this.#tables.en ? ENGLISH : this.language];
  }

  #plural(language, count) {
    return this.#format(`plural ${language}`, () => new Intl.PluralRules(language)).select(count);
  }

  /** A value is a number, a text of somebody, or `{text}`, which is in the language already. */
  #written(value) {
    if (typeof value === 'string') return this.isolated(value);
    if (typeof value !== 'number') return value.text;
    return this.#format('number', () => new Intl.NumberFormat(this.#locale)).format(value);
  }

  /** `Intl` is slow to begin. */
  #format(name, make) {
    if (!this.#formats.has(name)) this.#formats.set(name, make());
    return this.#formats.get(name);
  }
}

function isText(own) {
  return typeof own === 'string' || typeof own?.other === 'string';
}

/** The tag in its normal form; null if it is none. Programs also write `pt_BR`. */
function canonical(language) {
  try {
    return new Intl.Locale(String(language ?? '').trim().replaceAll('_', '-')).toString();
  } catch {
    return null;
  }
}

/** The name of the table for the tag of a language; null if there is none. */
export function tableName(tables, language) {
  const tag = canonical(language);
  if (tag === null) return null;
  const name = tableIn(tag);
  return name in tables ? name : null;
}

/** The name of the table for a tag: the language, and for Chinese the script with it. */
function tableIn(tag) {
  const { language, script, region } = new Intl.Locale(tag);
  if (language !== 'zh') return language;
  const isTraditional = script === undefined ? TRADITIONAL_REGIONS.has(region) : script === 'Hant';
  return isTraditional ? 'zh-hant' : 'zh-hans';
}

function directionOf(tag) {
  const { language, script } = new Intl.Locale(tag);
  const isRightToLeft = script === undefined ? RIGHT_TO_LEFT_LANGUAGES.has(language) : RIGHT_TO_LEFT_SCRIPTS.has(script);
  return isRightToLeft ? 'rtl' : 'ltr';
}

/** A page in English does not say whether its reader writes 14:05 or 2:05 PM; the reader's browser often does. */
function localeOf(tag, preferred) {
  const isSame = (other) => canonical(other)?.startsWith(`${tag}-`) ?? false;
  return preferred.find(isSame) ?? tag;
}
