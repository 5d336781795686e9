// A page in jsdom with the built script, and a chat in it. Prints what it has shown, as JSON.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { JSDOM, VirtualConsole } = require('jsdom');

const SCRIPT = join(__dirname, '../../dist/signalbox-chat.js');

async function main() {
  const errors = [];
  const virtualConsole = new VirtualConsole();
  virtualConsole.on('jsdomError', (error) => errors.push(error.message));
  virtualConsole.on('error', (message) => errors.push(String(message)));
  const { window } = new JSDOM('<!doctype html><html lang="en"><button id="opener"></button></html>', {
    runScripts: 'outside-only', pretendToBeVisual: true, url: 'https://page.example/', virtualConsole,
  });
  const { document } = window;
  class Silent {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
  Object.assign(window, {
    ResizeObserver: Silent, IntersectionObserver: Silent,
    matchMedia: () => ({ matches: false, addEventListener() {}, removeEventListener() {} }),
  });
  window.eval(readFileSync(SCRIPT, 'utf8'));
  const chat = document.createElement('signalbox-chat');
  const listeners = [];
  const session = {
    sessionId: 'one', connection: { connectionId: 'own', data: 'Ada' }, connections: { length: () => 2 },
    on: (name, act) => listeners.push({ name, act }),
    off: (name, act) => listeners.splice(listeners.findIndex((each) => each.act === act), 1),
    emit: (name, event) => listeners.filter((each) => each.name === name).forEach(({ act }) => act(event)),
    signal: (options, done) => done(),
  };
  chat.attach(session);
  document.body.append(chat);
  const frames = () => new Promise((done) => setTimeout(done, 200));
  await frames();
  session.emit('signal', {
    type: 'signal:text-chat', from: { connectionId: 'other', data: 'Bob' }, seq: 1,
    data: JSON.stringify({ text: 'hello https://a.example/' }),
  });
  chat.draft = 'answer';
  const { shadowRoot } = chat;
  shadowRoot.getElementById('send').click();
  await frames();
  const texts = (selector) => [...shadowRoot.querySelectorAll(selector)].map((each) => each.textContent);
  const shown = { send: shadowRoot.getElementById('send').textContent, messages: texts('.bubble') };
  shown.link = shadowRoot.querySelector('.bubble a').href;
  chat.openPersonMenu({ user: 'u', connectionId: 'other', name: 'Bob' }, document.getElementById('opener'), [
    { text: 'Command', act() {} },
  ]);
  shown.menu = texts('[role=menuitem]');
  chat.detach();
  chat.remove();
  await frames();
  console.log(JSON.stringify({ errors, ...shown, state: chat.state }));
  window.close();
}

main();
