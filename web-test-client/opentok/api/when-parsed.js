/** Calls `act` as soon as the page is parsed; at once if it is, or if there is no page. */
export function whenParsed(document, act) {
  if (document?.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => act(), { once: true });
  else act();
}
