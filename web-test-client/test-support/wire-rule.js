import { Code } from '../client/wire/codes.js';
import { TYPE_LENGTH, TYPE_PATTERN } from '../opentok/api/signal/signal-verdict.js';

const DATA_LENGTH = 8192;

/**
 * The server's own rule (SIG-2 to SIG-5), for comparison with the web client's: the code with which it refuses
 * `{type?, data?, to?}`, each a string, or null. It counts the raw string; an empty type counts as absent.
 */
export function wireRefusal({ type = '', data = '', to }) {
  if (data.length > DATA_LENGTH) return Code.tooLong;
  if (to === '') return Code.invalidParameter;
  if (type.length > TYPE_LENGTH) return Code.tooLong;
  if (type !== '' && !TYPE_PATTERN.test(type)) return Code.invalidParameter;
  return null;
}
