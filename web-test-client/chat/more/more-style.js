/** The style of pictures, files, cards, light markup, and of what is being sent. */
export const MORE_STYLE = `
.picture {
  display: grid;
  max-width: 100%;
  min-height: 2em;
  border-radius: 10px;
  overflow: hidden;
  background: var(--line);
}

.picture a {
  display: block;
}

.picture img {
  display: block;
  width: 100%;
  height: 100%;
  object-fit: cover;
}

.picture-show {
  align-self: center;
  justify-self: center;
  max-width: calc(100% - 1em);
  border-color: var(--line);
  background: var(--surface);
  color: var(--ink);
  white-space: normal;
  overflow-wrap: anywhere;
}

.bubble:has(> .picture) {
  padding: 0.3em;
  white-space: normal;
}

.bubble:has(> .picture:only-child) {
  width: fit-content;
}

.file {
  display: flex;
  gap: 0.6em;
  align-items: center;
  white-space: normal;
}

.file-icon {
  flex: none;
  width: 1.5em;
  height: 1.9em;
  border: 2px solid;
  border-radius: 3px;
  clip-path: polygon(0 0, 65% 0, 100% 30%, 100% 100%, 0 100%);
  opacity: 0.7;
}

.file-name {
  min-width: 0;
  overflow-wrap: anywhere;
}

.file-size {
  flex: none;
  color: var(--ink-soft);
  font-size: 0.8125em;
}

.file.gone {
  color: var(--ink-soft);
  text-decoration: line-through;
}

.file-note {
  color: var(--ink-soft);
  font-size: 0.8125em;
}

.card {
  display: grid;
  gap: 0.15em;
  max-width: 22em;
  margin-top: 0.5em;
  border: 1px solid var(--line);
  border-radius: 10px;
  padding: 0.55em 0.75em;
  overflow: hidden;
  background: var(--surface);
  color: var(--ink);
  text-decoration: none;
  white-space: normal;
}

.card img {
  width: calc(100% + 1.5em);
  max-width: none;
  max-height: 10em;
  margin: -0.55em -0.75em 0.3em;
  object-fit: cover;
}

.card-text,
.card-host {
  color: var(--ink-soft);
  font-size: 0.875em;
}

.bubble pre {
  margin: 0.25em 0;
  border-radius: 8px;
  padding: 0.5em 0.65em;
  overflow-x: auto;
  background: var(--surface);
  overflow-wrap: normal;
  white-space: pre;
}

.bubble code {
  font: 0.9em ui-monospace, "Liberation Mono", monospace;
}

.bubble code {
  border-radius: 4px;
  padding: 0 0.25em;
  background: var(--surface);
}

.bubble pre code {
  padding: 0;
}

.bubble ul,
.bubble ol {
  margin: 0.15em 0;
  padding-inline-start: 1.5em;
  white-space: normal;
}

.composer-strip {
  display: grid;
  grid-column: 1 / -1;
  gap: 0.3em;
}

.composer-strip:not(:has(.outgoing)) {
  display: none;
}

.outgoing {
  display: flex;
  gap: 0.7em;
  align-items: center;
  border: 1px solid var(--line);
  border-radius: 10px;
  padding: 0.3em 0.7em;
  background: var(--raised);
  font-size: 0.875em;
}

.outgoing-text {
  flex: 1;
  min-width: 0;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}

.outgoing progress {
  width: 5em;
  accent-color: var(--accent);
}

.drops::after {
  position: absolute;
  z-index: 4;
  inset: 0;
  border: 2px dashed var(--accent);
  border-radius: var(--radius);
  background: var(--own);
  opacity: 0.5;
  pointer-events: none;
  content: "";
}
`;
