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

/**
 * The colours of avatars, in both schemes: 16 directions of the colour circle, by turns light and dark, so that any two
 * differ. White text has a contrast of at least 4.5 on each.
 */
export const HUES = [
  '#c23d5d', '#8e1a03', '#b05a02', '#674603', '#847509', '#435501', '#048824', '#0a5b44', '#05837e', '#0a5763',
  '#0f7cac', '#02499c', '#6463d4', '#612997', '#a449aa', '#880a5e',
];

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
