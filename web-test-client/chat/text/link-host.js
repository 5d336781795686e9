/**
 * Sets of scripts that one label of a host may use: level 2, "single script", of Unicode Technical Standard 39, section
 * 5.2, with its recommended scripts. Chinese, Japanese and Korean use several scripts each. Browsers permit some
 * mixtures with Latin, too; a link in a chat comes from a stranger, so it gets the stricter rule.
 */
const SCRIPTS = [
  'Latn', 'Cyrl', 'Grek', 'Armn', 'Geor', 'Hebr', 'Arab', 'Thaa', 'Ethi', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml',
  'Telu', 'Knda', 'Mlym', 'Sinh', 'Thai', 'Laoo', 'Khmr', 'Mymr', 'Tibt', 'Hani Hira Kana', 'Hani Bopo', 'Hani Hang',
];
const ONE_SCRIPT = new RegExp(`^(?:${SCRIPTS.map(charactersOf).join('|')})$`, 'u');

/**
 * A label that looks like another one in ASCII, wholly: the characters that a host may have and that UTS 39, section 4,
 * maps to ASCII (its data for Unicode 15), without the letters æ and œ, which look like none.
 */
const LOOKS_LIKE_ASCII = new RegExp(
  '^[a-z0-9-' +
    'ıƍƽǀǁǃȣɑɡɣɩɪɯʋʏʔʣʦʪʫᴄᴏᴑᴜᴠᴡᴢᵫᶃᶌẝỿꜱꜳꜵꜷꜹꜻꜽꝏꝷꝸꞌꞙꞟꬲꬵꬽꭇꭈꭎꭒꭚꭣ' +
    'абгеорсухѕіјѡѵґүһҽӏӕԁԛԝꙇꚙ' +
    'αγινορσυϳᴦ' +
    'ագզհոռսցքօ' +
    'ყჿሀዐ' +
    '۰۱۵۷०ॽ০৪৭੦੧੪૦ଠ୦୨௦౦೦ഠ൦൭๐໐ဝ၀〇丶丿ノ' +
    ']+$',
  'u',
);

/**
 * The host of a link as a reader may see it: as the sender wrote it, or in ASCII (`xn--…`) if it may look like another
 * one. `written` is the host in the text, with its port if it has one; `host` is the one that the browser opens.
 */
export function readableHost(written, host) {
  if (written.toLowerCase() === host) return written;
  const readable = written.normalize('NFKC').toLowerCase();
  const labels = withoutPort(readable).split('.');
  const opened = withoutPort(host).split('.');
  const isClear =
    labels.length === opened.length &&
    labels.every((label, index) => label === opened[index] || isUnmistakable(label));
  return isClear ? readable : host;
}

function isUnmistakable(label) {
  return ONE_SCRIPT.test(label) && !LOOKS_LIKE_ASCII.test(label);
}

function withoutPort(host) {
  return host.replace(/:\d*$/, '');
}

function charactersOf(scripts) {
  return `[0-9${scripts.split(' ').map((script) => `\\p{scx=${script}}`).join('')}-]+`;
}
