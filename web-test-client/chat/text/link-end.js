/** Scripts whose texts need no space behind a foreign word, so that it is glued to an address. */
const GLUED_SCRIPTS = [
  'Hani', 'Hira', 'Kana', 'Bopo', 'Hang', 'Thai', 'Laoo', 'Khmr', 'Mymr', 'Tibt', 'Arab', 'Deva', 'Beng', 'Guru', 'Gujr',
  'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh',
];

/** Where such a text begins behind ASCII. A part of a path that begins with another script is not cut: `/wiki/東京2020年`. */
const GLUED_PATH = new RegExp(
  `(?=[${GLUED_SCRIPTS.map((script) => `\\p{sc=${script}}`).join('')}])(?<=[A-Za-z0-9])(?<=[/?#&=][!-~]*)`, 'u',
);

/** Scripts that one name is written in. Japanese and Korean use several. */
const FAMILIES = [
  /[\p{ASCII}\p{sc=Latn}]/u, /[\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Bopo}\p{sc=Hang}]/u,
  ...['Cyrl', 'Grek', 'Armn', 'Geor', 'Hebr', 'Ethi', 'Thaa', ...GLUED_SCRIPTS.slice(5)].map(
    (script) => new RegExp(`\\p{sc=${script}}`, 'u'),
  ),
];

/**
 * An address without a text that is glued to it in another script. Such a text would name another host:
 * `https://example.com을`. `pieces` are the whole, the scheme, the host with its port, and the rest.
 */
export function withoutGluedText([, scheme, host, rest]) {
  const end = hostEnd(host);
  if (end !== -1) return scheme + host.slice(0, end);
  const glued = rest.search(GLUED_PATH);
  return scheme + host + (glued === -1 ? rest : rest.slice(0, glued));
}

/**
 * Where a text begins that is glued to a host, or -1. The first label of a domain may mix scripts, as `abc日本.jp` does. A
 * later one may not, since a domain at the top has one script: if that cuts a name, no link opens another host.
 */
function hostEnd(host) {
  const labels = host.split('.');
  const first = labels[0].toLowerCase() === 'www' ? 1 : 0;
  let start = 0;
  for (const [index, label] of labels.entries()) {
    const change = index > first || index === labels.length - 1 ? changeIn(label) : -1;
    if (change !== -1) return start + change;
    start += label.length + 1;
  }
  return -1;
}

/** Where a label changes to another script, or -1. No text that is glued to an address is Latin. */
function changeIn(label) {
  let last = -1;
  let index = 0;
  for (const character of label) {
    const family = FAMILIES.findIndex((each) => each.test(character));
    if (family > 0 && last !== -1 && family !== last) return index;
    if (family !== -1) last = family;
    index += character.length;
  }
  return -1;
}
