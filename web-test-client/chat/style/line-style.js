/** The style of the lines between the messages, and what lies over them. */
export const LINES_STYLE = `
.day,
.gap,
.unread-divider {
  display: flex;
  align-items: center;
  gap: 0.75rem;
  margin: 1.1rem 0 0.2rem;
  color: var(--ink-soft);
  font-size: 0.8125rem;
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
  flex: 0 0 0.75rem;
}

.offline-hint {
  position: absolute;
  top: 0.6rem;
  left: 50%;
  width: max-content;
  max-width: calc(100% - 1.5rem);
  transform: translateX(-50%);
  padding: 0.35rem 0.9rem;
  border: 1px solid var(--warn);
  border-radius: 1.1rem;
  background: var(--surface);
  color: var(--warn);
  font-size: 0.8125rem;
  text-align: center;
  box-shadow: var(--shadow);
}

.back-report {
  position: absolute;
  z-index: 1;
  top: 0.6rem;
  left: 50%;
  width: max-content;
  max-width: calc(100% - 1.5rem);
  transform: translateX(-50%);
  padding: 0.35rem 0.9rem;
  border: 1px solid var(--good);
  border-radius: 1.1rem;
  background: var(--surface);
  color: var(--good);
  font-size: 0.8125rem;
  font-variant-numeric: tabular-nums;
  text-align: center;
  box-shadow: var(--shadow);
}
`;
