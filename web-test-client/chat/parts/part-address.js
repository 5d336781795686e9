/**
 * The address of a part of the element beside that of its script, with the script's query: a page that names a version
 * there gets the part of that version.
 */
export function partAddress(name, script) {
  const { search } = new URL(script);
  return new URL(`signalbox-chat-${name}.js${search}`, script).href;
}
