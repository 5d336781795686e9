/** The style of the lines between the messages, and what lies over them. */
export const LINES_STYLE = `
.day,
.gap,
.unread-divider {
  display: flex;
  align-items: center;
  gap: 0.923em;
  margin: 1.35em 0 0.246em;
  color: var(--ink-soft);
  font-size: max(11px, 0.813em);
  text-align: center;
}

.day::before,
.day::after,
.gap::before,
.gap::after,
.unread-divider::before,
.unread-divider::after {
  flex: 1;
  border-top: 1px solid;
  content: "";
  opacity: 0.3;
}

.day time {
  font-weight: 500;
}

.gap {
  color: var(--warn);
}

.unread-divider {
  color: var(--accent);
  font-weight: 600;
}

.unread-divider::before {
  flex: 0 0 0.923em;
}

.offline-hint,
.back-report {
  position: absolute;
  z-index: 1;
  top: 0.738em;
  left: 50%;
  width: max-content;
  max-width: calc(100% - 1.85em);
  transform: translateX(-50%);
  padding: 0.431em 1.11em;
  border: 1px solid;
  border-radius: 1.35em;
  background: var(--surface);
  color: var(--warn);
  font-size: max(11px, 0.813em);
  text-align: center;
  box-shadow: var(--shadow);
}

.back-report {
  color: var(--good);
  font-variant-numeric: tabular-nums;
}
`;
