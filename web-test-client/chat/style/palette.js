// The colours of the chat, and of the test page around it.

/** Each colour by its name. A page replaces it in the element with the custom property `--signalbox-` + name. */
const COLOURS = {
  ink: { light: '#18211f', dark: '#e6eeeb' },
  'ink-soft': { light: '#566460', dark: '#9dada8' },
  surface: { light: '#ffffff', dark: '#161d1b' },
  raised: { light: '#f8faf8', dark: '#1c2523' },
  line: { light: '#dde3df', dark: '#2a3532' },
  accent: { light: '#0f766e', dark: '#4fc3b3' },
  'accent-strong': { light: '#0b5c56', dark: '#74d8ca' },
  'on-accent': { light: '#ffffff', dark: '#04211d' },
  own: { light: '#d9f0eb', dark: '#17443e' },
  other: { light: '#eef1ef', dark: '#232d2a' },
  danger: { light: '#b3261e', dark: '#ff9a8f' },
  'danger-soft': { light: '#fdecea', dark: '#3a1c1a' },
  warn: { light: '#9a5b00', dark: '#f0b357' },
  good: { light: '#18794e', dark: '#5fd39b' },
};

const SHADOWS = {
  '0 1px 2px': { light: 'rgb(20 40 35 / 6%)', dark: 'rgb(0 0 0 / 30%)' },
  '0 8px 28px': { light: 'rgb(20 40 35 / 8%)', dark: 'rgb(0 0 0 / 30%)' },
};

const CHOICES = {
  light: ({ light }) => light,
  dark: ({ dark }) => dark,
  /** As the used `color-scheme` of the element that has the properties. */
  used: ({ light, dark }) => `light-dark(${light}, ${dark})`,
};

/** The colours of avatars, in both schemes. */
export const HUES = ['#0f766e', '#2563a8', '#8a3ffc', '#a8326e', '#b3471b', '#7a6200', '#3d7a1f', '#5a5f73'];

/**
 * The custom properties of the scheme: `light`, `dark`, or `used`. `value` makes the value of a property from its name
 * and its colour.
 */
export function colours(scheme, value = (name, colour) => colour) {
  const choose = CHOICES[scheme];
  const named = Object.entries(COLOURS).map(([name, each]) => `--${name}: ${value(name, choose(each))};`);
  const shadow = Object.entries(SHADOWS).map(([shape, each]) => `${shape} ${choose(each)}`);
  return [...named, `--shadow: ${shadow.join(', ')};`].join('\n');
}

/** A class for each colour of avatars. */
export const HUE_CLASSES = HUES.map((hue, index) => `.hue-${index} { background: ${hue}; }`).join('\n');
