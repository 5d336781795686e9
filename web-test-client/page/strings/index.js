import { en } from './en.js';

/**
 * The texts of the page by language, see `words.js` of the chat. English is there from the start; each other table is
 * a file of its own, which only a reader of the language loads.
 */
export const PAGE_TABLES = {
  ar: async () => (await import('./ar.js')).ar,
  de: async () => (await import('./de.js')).de,
  en: async () => en,
  es: async () => (await import('./es.js')).es,
  fr: async () => (await import('./fr.js')).fr,
  ja: async () => (await import('./ja.js')).ja,
  pt: async () => (await import('./pt.js')).pt,
  'zh-hans': async () => (await import('./zh-hans.js')).zhHans,
  'zh-hant': async () => (await import('./zh-hant.js')).zhHant,
};
