// The inputs of a `ClientState` that come from the socket, except for messages.

import { CloseCode, Code } from './wire/codes.js';
import { errorForClose, mayReconnectAfter, reasonForClose } from './reconnect-policy.js';

export function socketOpened(core) {
  switch (core.phase.name) {
    case 'opening': {
      const { connect, until } = core.phase;
      const requestId = core.nextRequestId();
      core.phase = { name: 'connecting', connect, requestId, until };
      core.send({ ...connect, id: requestId });
      break;
    }
    case 'reconnecting': {
      const { terms, reconnection } = core.phase;
      if (reconnection.step !== 'opening') return;
      const id = core.nextRequestId();
      reconnection.connect(id);
      const { connectionId, epoch, seq } = core.view;
      core.send({ ...terms.connect, id, resume: { connectionId, secret: terms.offer.secret, epoch, after: seq } });
      break;
    }
  }
}

export function socketClosed(core, code, now) {
  switch (core.phase.name) {
    case 'disconnected':
      break;
    case 'opening':
    case 'connecting':
      core.failConnect(Code.connectFailed, `The server closed the connection (close code ${code}).`);
      break;
    case 'connected':
      if (mayReconnectAfter(code)) core.loseSocket(now);
      else core.end(reasonForClose(code), errorForClose(code));
      break;
    case 'reconnecting':
      if (!core.phase.reconnection.isTrying) return;
      if (mayReconnectAfter(code)) core.attemptFailed(now);
      else core.end(reasonForClose(code), errorForClose(code));
      break;
    case 'disconnecting':
      core.end('clientDisconnected');
      break;
  }
}

export function socketFailed(core, message, now) {
  if (core.phase.name === 'opening' || core.phase.name === 'connecting') core.failConnect(Code.connectFailed, message);
  else socketClosed(core, CloseCode.abnormal, now);
}
