import { tableName, Words } from '../chat/words/words.js';
import { en } from './strings/en.js';
import { PAGE_TABLES } from './strings/index.js';

/** The form waits so long for its language, in milliseconds. Then it is English: a form late is worse. */
const PATIENCE = 2000;

/** The texts of the page in the first language of the browser that it has, or in English. */
export async function pageWords(languages, { tables = PAGE_TABLES, patience = PATIENCE } = {}) {
  const known = languages.find((tag) => tableName(tables, tag) !== null) ?? 'en';
  const name = tableName(tables, known);
  const table = await inTime(tables[name](), patience);
  if (table === null) return new Words('en', { en }, { preferred: languages });
  return new Words(known, { en, [name]: table }, { preferred: languages });
}

/** What is promised; null if it fails or takes too long. */
async function inTime(promise, milliseconds) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds, null)));
  try {
    return await Promise.race([promise, late]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
