/** A line of a list: its mark, and its text. */
const ITEM = /^ {0,3}(?:([-*•])|(\d{1,9})[.)]) +(\S.*)$/;

const FENCE = /^ {0,3}```[\w+-]*[ \t]*$/;

/** Code, bold, and italic within a line. No part can contain its own mark, so that the time is linear. */
const SPANS = /`([^`\n]+)`|\*\*(?=\S)([^*\n]+)(?<=\S)\*\*|(?<![\p{L}\p{N}*])\*(?=\S)([^*\n]+)(?<=\S)\*(?![\p{L}\p{N}*])|(?<![\p{L}\p{N}_])_(?=\S)([^_\n]+)(?<=\S)_(?![\p{L}\p{N}_])/gu;

/**
 * A text with light markup as a list of blocks: `{kind: 'text', text}`, `{kind: 'code', text}`, or
 * `{kind: 'list', isOrdered, start, items}`. A fence that is not closed is text.
 */
export function blocksOf(text) {
  const lines = text.split('\n');
  const blocks = [];
  for (let at = 0; at < lines.length; at += 1) {
    const last = blocks.at(-1);
    const end = FENCE.test(lines[at]) ? lines.findIndex((line, index) => index > at && /^ {0,3}```\s*$/.test(line)) : -1;
    const item = ITEM.exec(lines[at]);
    if (end > 0) {
      blocks.push({ kind: 'code', text: lines.slice(at + 1, end).join('\n') });
      at = end;
    } else if (item !== null) {
      const isOrdered = item[2] !== undefined;
      if (last?.kind === 'list' && last.isOrdered === isOrdered) last.items.push(item[3]);
      else blocks.push({ kind: 'list', isOrdered, start: Number(item[2] ?? 1), items: [item[3]] });
    } else if (last?.kind === 'text') {
      last.text += `\n${lines[at]}`;
    } else {
      blocks.push({ kind: 'text', text: lines[at] });
    }
  }
  return blocks;
}

/** A text in one line or more, as `{kind: 'text' | 'code' | 'bold' | 'italic', text}`. */
export function spansOf(text) {
  const spans = [];
  let end = 0;
  for (const found of text.matchAll(SPANS)) {
    if (found.index > end) spans.push({ kind: 'text', text: text.slice(end, found.index) });
    const kind = ['code', 'bold', 'italic', 'italic'][found.slice(1).findIndex((each) => each !== undefined)];
    spans.push({ kind, text: found.slice(1).find((each) => each !== undefined) });
    end = found.index + found[0].length;
  }
  if (end < text.length) spans.push({ kind: 'text', text: text.slice(end) });
  return spans;
}
