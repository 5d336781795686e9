/**
 * The parts of the element that load when they are needed, for a program with modules. A bundler makes a file of each.
 * `scripts/build web` makes those for the script, with the same names.
 */
const IMPORTS = {
  signals: () => import('./signals.js'),
  more: () => import('./more.js'),
  changes: () => import('./changes.js'),
  reactions: () => import('./reactions.js'),
  moderators: () => import('./moderators.js'),
  emoji: () => import('./emoji.js'),
  'emoji-ar': () => import('./emoji-ar.js'),
  'emoji-de': () => import('./emoji-de.js'),
  'emoji-en': () => import('./emoji-en.js'),
  'emoji-es': () => import('./emoji-es.js'),
  'emoji-fr': () => import('./emoji-fr.js'),
  'emoji-ja': () => import('./emoji-ja.js'),
  'emoji-pt': () => import('./emoji-pt.js'),
  'emoji-zh-hans': () => import('./emoji-zh-hans.js'),
  'emoji-zh-hant': () => import('./emoji-zh-hant.js'),
};

export function importPart(name) {
  return IMPORTS[name]();
}
