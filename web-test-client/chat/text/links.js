import { withoutGluedText } from './link-end.js';
import { readableHost } from './link-host.js';

/** Marks of a sentence, quotes and brackets of all scripts: many of these write no space behind an address. */
const MARK = '(?!\\p{ASCII}|’)[\\p{STerm}\\p{Term}\\p{Ps}\\p{Pe}\\p{Pi}\\p{Pf}]';

/** An address in a text. No other scheme becomes a link: `javascript:` and `data:` run code. */
const WEB = `(?:\\bhttps?:\\/\\/|(?<![\\w.@/:-])www\\.)(?:(?!${MARK})[^\\s<>"'\`\\p{Cc}\\p{Cf}])+`;

/** An address of mail, in ASCII only: no letter can look like another. */
const MAIL =
  '(?<![\\w.+/:@-])[a-z0-9][\\w.+-]{0,63}@(?:[a-z0-9-]{1,63}\\.){1,8}[a-z]{2,63}(?![\\w@-]|\\p{sc=Latn}|\\.\\w)';

const ADDRESS = new RegExp(`(?<web>${WEB})|(?<mail>${MAIL})`, 'giu');

/** Marks that end a sentence, not an address. */
const TRAILING = new Set('.,;:!?…»’*_~');

const PAIRS = { ')': '(', ']': '[', '}': '{' };

/** The scheme of an address, its host with the port, and the rest. A browser reads `\\` as `/`. */
const PIECES = /^(https?:[/\\]+|)([^/\\?#]*)(.*)$/isu;

/**
 * Splits a text into parts, `{text}` and `{text, address, shown}`: an address of the web, with http or https or with `www.`
 * in front, or of mail, as a browser parses it; and what to show for it: what is before the host, the host, which is
 * that of the address, and the rest. The texts of the parts together are the text. After `most` addresses it stops: the
 * last part, `{text, isRest}`, is what it has not looked at.
 */
export function splitLinks(text, most = Infinity) {
  const parts = [];
  let end = 0;
  let count = 0;
  const addText = (until) => {
    if (until > end) parts.push({ text: text.slice(end, until) });
  };
  for (const { groups: { web, mail }, index } of text.matchAll(ADDRESS)) {
    count += 1;
    if (count > most) {
      parts.push({ text: text.slice(end), isRest: true });
      return parts;
    }
    const written = mail ?? withoutTrailing(withoutGluedText(PIECES.exec(web)));
    const link = mail ? mailLink(mail) : webLink(written);
    if (link === null) continue;
    addText(index);
    parts.push({ text: written, ...link });
    end = index + written.length;
  }
  addText(text.length);
  return parts;
}

/** Without marks of the sentence around it, and without a closing bracket that was opened before the address. */
function withoutTrailing(found) {
  /** Closing bracket → how many more of them there are than opening ones. */
  const excess = {};
  for (const [closing, opening] of Object.entries(PAIRS)) {
    excess[closing] = count(found, closing) - count(found, opening);
  }
  let end = found.length;
  for (; end > 0; end -= 1) {
    const last = found[end - 1];
    if (TRAILING.has(last)) continue;
    if (!(excess[last] > 0)) break;
    excess[last] -= 1;
  }
  return found.slice(0, end);
}

function count(text, character) {
  return text.split(character).length - 1;
}

/** The address in its normal form, and how to show it; null unless it has a host and one of the two schemes. */
function webLink(text) {
  try {
    const [, scheme, written, rest] = PIECES.exec(text);
    // Without a scheme only a host with a name and a domain: “www.” begins other words, too.
    if (scheme === '' && !/^www\.[^.]+\.[^.]/i.test(written)) return null;
    const url = new URL(scheme === '' ? `https://${text}` : text);
    const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
    // A name and password before the host disguise the host: http://bank.example@attacker.example.
    if (!isWeb || !written || url.username !== '' || url.password !== '') return null;
    return { address: url.href, shown: [scheme, readableHost(written, url.host), rest] };
  } catch {
    return null;
  }
}

function mailLink(text) {
  const hostAt = text.indexOf('@') + 1;
  return { address: `mailto:${text}`, shown: [text.slice(0, hostAt), text.slice(hostAt), ''] };
}
