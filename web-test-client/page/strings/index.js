import { ar } from './ar.js';
import { de } from './de.js';
import { en } from './en.js';
import { es } from './es.js';
import { fr } from './fr.js';
import { ja } from './ja.js';
import { pt } from './pt.js';
import { zhHans } from './zh-hans.js';
import { zhHant } from './zh-hant.js';

/** The texts of the page by language, see `words.js` of the chat. */
export const PAGE_STRINGS = { ar, de, en, es, fr, ja, pt, 'zh-hans': zhHans, 'zh-hant': zhHant };
