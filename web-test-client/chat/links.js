import { readableHost } from './link-host.js';

/**
 * An address in a text. No other scheme becomes a link: `javascript:` and `data:` run code. Chinese text has no spaces,
 * so its marks end an address, too.
 */
const ADDRESS = /\bhttps?:\/\/[^\s<>"'`\p{Cc}\p{Cf}、，。；：！？（）【】「」《》“”]+/giu;

/** Marks that end a sentence, not an address. */
const TRAILING = new Set('.,;:!?…»’*_~');

const PAIRS = { ')': '(', ']': '[', '}': '{' };

/** The scheme of an address, its host with the port, and the rest. A browser reads `\\` as `/`. */
const PIECES = /^(https?:[/\\]+)([^/\\?#]*)(.*)$/isu;

/**
 * Splits a text into parts, `{text}` and `{text, address, shown}`: an address with the scheme http or https, as a browser
 * parses it, and what to show for it: the scheme, the host, which is that of the address, and the rest. The texts of the
 * parts together are the text.
 */
export function splitLinks(text) {
  const parts = [];
  let end = 0;
  const addText = (until) => {
    if (until > end) parts.push({ text: text.slice(end, until) });
  };
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const written = withoutTrailing(found);
    const link = parsed(written);
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
function parsed(text) {
  try {
    const url = new URL(text);
    const [, scheme, written, rest] = PIECES.exec(text) ?? [];
    const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
    // A name and password before the host disguise the host: http://bank.example@attacker.example.
    if (!isWeb || !written || url.username !== '' || url.password !== '') return null;
    return { address: url.href, shown: [scheme, readableHost(written, url.host), rest] };
  } catch {
    return null;
  }
}
