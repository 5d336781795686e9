/** The style of the look of OpenTok's text chat. */
export const OPENTOK_STYLE = `
/* The look of OpenTok's text chat: no bubbles, a line between the groups, name and time in one line, and a counter. */
:host([look="opentok"]) .chat {
  --radius: var(--signalbox-radius, 0px);
}

:host([look="opentok"]) .row,
:host([look="opentok"]) .row.sent {
  justify-content: flex-start;
  margin-top: 0;
  padding: 0.65em 0 0.15em;
  border-top: 1px solid var(--line);
}

:host([look="opentok"]) .row.short {
  padding: 0.1em 0;
  border-top: 0;
}

:host([look="opentok"]) .messages .row:first-child {
  border-top: 0;
}

:host([look="opentok"]) .row-body,
:host([look="opentok"]) .sent .row-body {
  flex: 1;
  justify-items: stretch;
  max-width: none;
}

:host([look="opentok"]) .row:not(.short) .row-header {
  position: static;
  width: auto;
  height: auto;
  overflow: visible;
  padding: 0 0 0.1em;
  clip-path: none;
}

:host([look="opentok"]) .row:not(.short) .row-name {
  position: static;
  width: auto;
  height: auto;
  overflow: hidden;
  clip-path: none;
}

:host([look="opentok"]) .row-header time {
  margin-inline-start: auto;
}

:host([look="opentok"]) .bubble,
:host([look="opentok"]) .sent .bubble {
  padding: 0;
  border-radius: 0;
  background: none;
  box-shadow: none;
}

:host([look="opentok"]) .bubble-line {
  flex-direction: row-reverse;
  justify-content: flex-end;
}

:host([look="opentok"]) .mark {
  padding-bottom: 0;
}

:host([look="opentok"]) .avatar {
  border-radius: 4px;
}

:host([look="opentok"]) .own-avatar {
  display: grid;
}

:host([look="opentok"]) .row:is([data-position="last"], [data-position="single"]) {
  padding-bottom: 0.65em;
}

:host([look="opentok"]) .day + .row {
  border-top-color: transparent;
}

/* The line has the whole width: the buttons lie over its end. */
@media (hover: hover) {
  :host([look="opentok"]) .toolbar {
    order: 0;
    flex: 0 0 0;
    justify-content: flex-end;
    margin: -0.5em 0 -2em -0.6em;
  }
}

@media (hover: none) {
  :host([look="opentok"]) .sent .toolbar {
    order: 0;
  }
}

:host([look="opentok"]) .composer {
  border-top: 1px solid var(--line);
  padding-top: 0.6em;
}

:host([look="opentok"]) .composer textarea,
:host([look="opentok"]) button.primary {
  border-radius: 4px;
}
`;
