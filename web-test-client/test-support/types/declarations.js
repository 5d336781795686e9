import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('../../opentok/opentok.d.ts', import.meta.url), 'utf8');

/** The names that `opentok.d.ts` declares in one interface, those of the interfaces that it extends included. */
export function declaredMembers(name) {
  const found = new RegExp(
    `^  interface ${name}\\b(?:<[^\\n]*?>)?(?: extends (?:Partial<)?(\\w+)[^\\n]*)? \\{\\n(.*?)^  \\}`, 'ms'
  ).exec(text);
  if (!found) throw new Error(`opentok.d.ts has no interface ${name}`);
  const own = [...found[2].matchAll(/^    (?:readonly )?([\w$]+)\??[(<:]/gm)].map((member) => member[1]);
  return new Set([...own, ...(found[1] ? declaredMembers(found[1]) : [])]);
}

/** The names that a program can import, as values. */
export function declaredNames() {
  return [...text.matchAll(/^  const ([\w$]+):/gm)].map((found) => found[1]);
}
