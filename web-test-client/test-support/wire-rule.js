import { Code } from '../opentok/client/codes.js';
import { TYPE_LENGTH, TYPE_PATTERN } from '../opentok/api/signal-verdict.js';

const DATA_LENGTH = 8192;

/**
 * The server's own rule (SIG-2 to SIG-5), to hold the web client's against: the code with which it refuses
 * `{type?, data?, to?}`, each a string, or null. It counts the raw string, and takes an empty type for an absent one.
 */
export function wireRefusal({ type = '', data = '', to }) {
  if (data.length > DATA_LENGTH) return Code.tooLong;
  if (to === '') return Code.invalidParameter;
  if (type.length > TYPE_LENGTH) return Code.tooLong;
  if (type !== '' && !TYPE_PATTERN.test(type)) return Code.invalidParameter;
  return null;
}
