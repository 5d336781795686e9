/**
 * The words of a part of the element: its own texts, which are no part of the first load, and those of the element for
 * all other keys. `tables` has the part's texts by language, and `own` are the program's.
 */
export function partWords(words, tables, own) {
  const made = new words.constructor(words.language, tables, { own });
  const { text } = made;
  made.text = (key, values) => (key in tables.en ? text.call(made, key, values) : words.text(key, values));
  return made;
}
