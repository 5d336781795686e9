import { Words } from '../chat/words/words.js';
import { PAGE_STRINGS } from './strings/index.js';

/** The texts of the page in the first language of the browser that it has, or in English. */
export function pageWords(languages) {
  const known = languages.find((tag) => new Words(tag, PAGE_STRINGS).language !== 'en' || /^en\b/i.test(tag));
  return new Words(known ?? 'en', PAGE_STRINGS, { preferred: languages });
}
