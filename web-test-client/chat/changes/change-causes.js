// Why a message could not be changed, as the key of a sentence for the user. The reasons are those with which
// `TextChatComponent` refuses a change by itself; the codes are those of docs/PROTOCOL.md, section 10.
import { Code } from '../../client/wire/codes.js';

const OF_REASON = {
  unknown: 'changeRefused',
  erased: 'changeRefused',
  notOwn: 'changeRefused',
  notPermitted: 'changeRefused',
  notConnected: 'changeOffline',
  restricted: 'restricted',
  blank: 'changeBlank',
  tooLong: 'tooLarge',
};

const OF_CODE = {
  [Code.permissionDenied]: 'changeRefused',
  [Code.notFound]: 'changeRefused',
  [Code.tooLong]: 'tooLarge',
  [Code.rateLimited]: 'changeTooFast',
  [Code.notConnected]: 'changeOffline',
};

/** The key of the sentence for an error of `editMessage` and `deleteMessage`. */
export function causeOfUnchanged({ reason, code, restriction }) {
  if (restriction !== undefined && restriction !== null) return 'restricted';
  return OF_REASON[reason] ?? OF_CODE[code] ?? 'actionFailed';
}
