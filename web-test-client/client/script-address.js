// Which script this is: its address names the server, and OpenTok's oldest pages put their API key into it.

/**
 * The address of the script that runs now. `stack` is the stack of an error that it made.
 *
 * A classic script is `document.currentScript`. In a module that is null, and the stack has the address. A script that
 * a page fetches and inserts as text, as jQuery does within one origin, has no address; its stack names the page.
 * Where there is no page, the address is undefined.
 */
export function scriptAddress(document, location, stack) {
  return ownAddress(document, stack) ?? location?.href;
}

/** Null for a script without an address. */
function ownAddress(document, stack) {
  return document?.currentScript?.src || addressInStack(stack) || null;
}

/** The first address in a stack, without line and column: `at https://…/a.js:1:2`, `@https://…`, `at f (https://…)`. */
function addressInStack(stack) {
  return /https?:\/\/[^\s()]*?(?=(?::\d+){1,2}\)?\s*$)/m.exec(stack ?? '')?.[0] ?? null;
}

/** The API key in the address of the script, as in `…/TB.min.js?apikey=100`; null if there is none. */
export function apiKeyOfScript(address) {
  return /[?&]apikey=([^&#]+)/i.exec(address)?.[1] ?? null;
}

/**
 * The option `publish` of the script: in its tag, as in `<script data-publish="fail" src="…">`, or in its address, as
 * in `…/opentok.min.js?publish=fail`. Undefined if there is none. A module has no `document.currentScript`; its tag is
 * the one with its address. The page's own address says nothing about the script.
 */
export function publishOfScript(document, stack) {
  const address = ownAddress(document, stack);
  const tag = document?.currentScript ?? [...(document?.scripts ?? [])].find(({ src }) => src !== '' && src === address);
  return tag?.dataset?.publish ?? publishOfAddress(address);
}

/** The same for a script of which only the address is known. */
export function publishOfAddress(address) {
  return /[?&]publish=([^&#]+)/.exec(address ?? '')?.[1];
}
