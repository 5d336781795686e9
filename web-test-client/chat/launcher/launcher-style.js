/** The style of the launcher. On phones the chat fills the screen, and the button is a cross in its corner. */
export const LAUNCHER_STYLE = `
:host {
  all: initial;
  position: fixed;
  z-index: 2147483000;
  inset-block-end: 16px;
  inset-inline-end: 16px;
  display: block;
  font: 16px/1.4 system-ui, sans-serif;
}
:host([side="start"]) {
  inset-inline: 16px auto;
}
#bubble {
  position: relative;
  display: grid;
  place-items: center;
  width: 56px;
  height: 56px;
  margin-inline-start: auto;
  border: 0;
  border-radius: 50%;
  padding: 0;
  background: var(--signalbox-accent, #0f766e);
  color: var(--signalbox-on-accent, #fff);
  box-shadow: 0 4px 32px rgb(0 0 0 / 40%);
  cursor: pointer;
}
:host([side="start"]) #bubble {
  margin-inline: 0 auto;
}
svg {
  width: 28px;
  fill: none;
  stroke: currentcolor;
  stroke-width: 2;
}
#badge {
  position: absolute;
  inset-block-start: -4px;
  inset-inline-end: -4px;
  min-width: 22px;
  border-radius: 11px;
  padding: 2px 5px;
  box-sizing: border-box;
  background: #b3261e;
  color: #fff;
  font-size: 13px;
  font-weight: 600;
  line-height: 18px;
}
#panel {
  position: absolute;
  inset-block-end: 72px;
  inset-inline-end: 0;
  display: grid;
  width: min(380px, 100vw - 32px);
  height: min(600px, 100vh - 104px);
  border-radius: 16px;
  overflow: hidden;
  background: Canvas;
  box-shadow: 0 4px 32px rgb(0 0 0 / 40%);
}
:host([side="start"]) #panel {
  inset-inline: 0 auto;
}
:host([hidden]),
#panel[hidden] {
  display: none;
}
::slotted(signalbox-chat) {
  width: 100%;
  height: 100%;
}
@media (max-width: 480px), (max-height: 420px) {
  #panel {
    position: fixed;
    inset: 0;
    width: auto;
    height: 100dvh;
    box-sizing: border-box;
    padding-block-start: 48px;
    border-radius: 0;
  }
  :host([open]) #bubble {
    position: fixed;
    inset-block-start: 4px;
    inset-inline-end: 4px;
    width: 40px;
    height: 40px;
    background: none;
    color: CanvasText;
    box-shadow: none;
  }
}
`;
