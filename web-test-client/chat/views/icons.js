// The paths of the icons, in a square of 24.
export const PAPERCLIP = 'M20 11.5l-8.2 8.2a5.5 5.5 0 0 1-7.8-7.8l8.6-8.6a3.7 3.7 0 0 1 5.2 5.2l-8.6 8.6a1.8 1.8 0 0 1-2.6-2.6l7.9-7.9';
export const SMILE = 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0zM8.2 14.2a4.5 4.5 0 0 0 7.6 0M9 9.5v.01M15 9.5v.01';

/** The element of an icon with this path. */
export function icon(path) {
  const svg = (tag, attributes) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const made = svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' });
  made.append(svg('path', { d: path }));
  return made;
}
