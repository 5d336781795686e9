/** The style of what moderators see: the list of what holds. */
export const MODERATORS_STYLE = `
.moderation {
  flex: none;
  border-bottom: 1px solid var(--line);
  padding: 0.457em 1.14em;
  font-size: max(11px, 0.875em);
}

.moderation button.plain {
  padding: 0.343em 0.857em;
}

.moderation-panel {
  display: grid;
  gap: 0.571em;
  justify-items: start;
  max-height: 40cqh;
  padding: 0.571em 0 0.229em;
  overflow-y: auto;
}

.held {
  display: grid;
  width: 100%;
  margin: 0;
  padding: 0;
  list-style: none;
}

.held li {
  display: flex;
  flex-wrap: wrap;
  gap: 0.114em 0.857em;
  align-items: baseline;
  padding: 0.286em 0;
  overflow-wrap: anywhere;
}

.held-reason,
.held-none {
  color: var(--ink-soft);
}

.held li .link {
  min-height: 2em;
  margin-inline-start: auto;
}

@container (max-width: 42em) {
  .moderation {
    padding-inline: 0.857em;
  }
}
`;
