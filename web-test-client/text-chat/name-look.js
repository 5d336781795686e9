/**
 * The words by which a chat names who is no person: the server, the system and the reader, in each language of the
 * chat. `Tests/Vectors/sender-names/reserved.json` has them for all languages.
 */
const RESERVED_WORDS = [
  'Server', 'The server', 'System', 'You', 'Sie', 'Servidor', 'Sistema', 'Usted', 'Serveur', 'Système', 'Vous', 'Você',
  'サーバー', 'システム', '自分', '服务器', '系统', '您', '伺服器', '系統', 'الخادم', 'النظام', 'أنتم',
];

/** The words for a guest, of whom the chat shows a number. */
const GUEST_WORDS = ['Guest', 'Gast', 'Invitado', 'Invité', 'Convidado', 'ゲスト', '访客', '訪客', 'ضيف'];

/** Letters of other scripts, each before the Latin one that it looks like (UTS 39 has many more). */
const LIKE_LATIN = new Map(
  [
    'аaеeоoрpсcуyхxіiјjѕsһhкkмmнhтtвbԁdԛqԝwѵv', 'АaВbЕeКkМmНhОoРpСcТtУyХxІiЈjЅs',
    'αaεeιiκkνvοoρpτtυuχxγyωwηn', 'ΑaΒbΕeΖzΗhΙiΚkΜmΝnΟoΡpΤtΥyΧx', 'ıi1i|ili0o',
  ].flatMap((pairs) => pairs.match(/../gsu)).map((pair) => [...pair]),
);

const HIDDEN = /\p{Default_Ignorable_Code_Point}/gu;
const NOT_WRITTEN = /[^\p{L}\p{M}\p{N}]/gu;

/**
 * The name as a reader sees it: names that look alike are equal. Case, spaces, signs and hidden characters do not
 * count, nor does the script of a letter that looks like a Latin one.
 */
export function lookOf(name) {
  const shown = visible(name);
  const lower = likeLatin(likeLatin(shown).toLowerCase()).replace(NOT_WRITTEN, '').replaceAll('rn', 'm');
  return lower === '' ? shown.replace(/\s+/gu, ' ').trim() : lower;
}

function visible(name) {
  return name.normalize('NFKC').replace(HIDDEN, '');
}

function likeLatin(text) {
  return Array.from(text, (character) => LIKE_LATIN.get(character) ?? character).join('');
}

const RESERVED = new Set(RESERVED_WORDS.map(lookOf));
const GUESTS = new Set(GUEST_WORDS.map(lookOf));

/** Whether a chat shows this name for nobody's person, or as the number of some guest. A guest cannot have it. */
export function isReserved(name) {
  if (RESERVED.has(lookOf(name))) return true;
  const shown = visible(name);
  const word = shown.replace(/[\p{Nd}\s]+$/u, '');
  return word !== shown && GUESTS.has(lookOf(word));
}
