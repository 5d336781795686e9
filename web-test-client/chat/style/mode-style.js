/** The style of narrow elements, paper, and users who have chosen their own colours or no motion. */
export const MODES_STYLE = `
/* Nobody is invited to write what cannot be sent. */
.composer.off .keys {
  visibility: hidden;
}

:host([look="opentok"]) .keys {
  display: none;
}

@container (max-width: 42em) {
  .messages-scroll {
    padding: 0.75em;
  }

  .typing {
    padding-inline: 0.923em;
  }

  .composer {
    padding-inline: 0.75em;
  }
}

@container (max-width: 26em) {
  .composer-tools .tool {
    width: 2em;
  }

  .keys {
    display: none;
  }

  /* Without the keys, the line under the text field takes space only while it says something. */
  .composer {
    row-gap: 0;
  }

  .composer-foot {
    min-height: 0;
  }

  .composer-foot > :not(:empty) {
    padding-top: 0.369em;
  }
}

@media (prefers-reduced-motion: reduce) {
  *,
  *::before,
  *::after {
    animation-duration: 0s !important;
    animation-delay: 0s !important;
    animation-iteration-count: 1 !important;
    transition-duration: 0s !important;
  }

  /* Only a slow message shows that it is being sent, without motion, too. */
  .row[data-state="pending"] .mark::before {
    animation-delay: 500ms !important;
  }
}

/* On paper nobody scrolls or writes. */
@media print {
  :host {
    display: block !important;
    height: auto !important;
    max-height: none !important;
    overflow: visible !important;
  }

  :host([hidden]) {
    display: none !important;
  }

  .chat {
    color-scheme: light;
  }

  .composer,
  .typing,
  .new-messages,
  .earlier-line,
  .message-facts,
  .toolbar {
    display: none;
  }

  .base,
  .chat,
  .messages-frame,
  .messages-scroll {
    position: static;
    display: block;
    height: auto;
    container-type: normal;
    overflow: visible;
  }

  .block.sealed {
    content-visibility: visible;
  }

  .row {
    break-inside: avoid;
  }

  .bubble {
    border: 1px solid var(--line);
  }
}

@media (forced-colors: active) {
  .bubble,
  .avatar,
  .message-facts {
    border: 1px solid;
  }

  .row.chosen .bubble {
    outline: 2px solid Highlight;
  }

  /* The browser removes backgrounds, and gives all borders one colour. */
  .typing-dots i {
    background: CanvasText;
    forced-color-adjust: none;
  }

  .row[data-state="pending"] .mark::before {
    border-color: GrayText;
    border-top-color: CanvasText;
    forced-color-adjust: none;
  }
}
`;
