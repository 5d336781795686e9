import { readFileSync, readdirSync } from 'node:fs';

/** A file in `Tests/Vectors`. The Swift tests read it, too. */
export function vectorFile(path) {
  return JSON.parse(readFileSync(new URL(`../../Tests/Vectors/${path}`, import.meta.url), 'utf8'));
}

export function vectorCases(path) {
  return vectorFile(path).cases;
}

/** The cases of all files in a folder. A case inherits the members of its file. */
export function vectorFolder(name) {
  const files = readdirSync(
    new URL(`../../Tests/Vectors/${name}/`, import.meta.url)
  ).filter((file) => file.endsWith('.json'));
  if (files.length === 0) throw new Error(`The folder Tests/Vectors/${name} has no vectors.`);
  return files.sort().flatMap((file) => {
    const { cases, ...whole } = JSON.parse(
      readFileSync(new URL(`../../Tests/Vectors/${name}/${file}`, import.meta.url), 'utf8')
    );
    return cases.map((each) => ({ ...whole, ...each, name: `${file}: ${each.name}` }));
  });
}

/** The value that a case describes, literally or in one of the forms that the notes of the files define. */
function vectorValue(written) {
  if (typeof written !== 'object' || written === null) return written;
  if (Array.isArray(written)) return written.map(vectorValue);
  if (written.repeat) return written.repeat[0].repeat(written.repeat[1]);
  if (written.object) {
    return Array.isArray(written.object) ? vectorValue(written.object) : vectorProperties(written.object);
  }
  if (written.present === 'undefined') return undefined;
  if (written.function) return () => {};
  if (written.cycle) {
    const circle = {};
    circle.circle = circle;
    return circle;
  }
  throw new Error(`Unknown form of a value: ${JSON.stringify(written)}`);
}

export function vectorProperties(written) {
  return Object.fromEntries(Object.entries(written).map(([name, value]) => [name, vectorValue(value)]));
}
