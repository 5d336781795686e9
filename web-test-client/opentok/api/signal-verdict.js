import { Code } from '../client/codes.js';

export const TYPE_LENGTH = 128;
export const DATA_JSON_LENGTH = 8192;
export const TYPE_PATTERN = /^[A-Za-z0-9\-._~]+$/;

/**
 * What OpenTok's web client says about the options of `session.signal` before anything is sent: null, or the first
 * complaint as `{code, message}`.
 *
 * Only own properties count: absent is fine, present and undefined is not. Checks run in the order data, to, type,
 * retryAfterReconnect; then ours, onlineOnly. `isTarget` says whether a value is a connection or the session.
 */
export function signalVerdict(options, isTarget) {
  const present = (name) => Object.hasOwn(options, name);
  return (
    (present('data') && dataComplaint(options.data)) ||
    (present('to') && targetComplaint(options.to, isTarget)) ||
    (present('type') && typeComplaint(options.type)) ||
    (present('retryAfterReconnect') && booleanComplaint('retryAfterReconnect', options.retryAfterReconnect)) ||
    (present('onlineOnly') && booleanComplaint('onlineOnly', options.onlineOnly)) ||
    null
  );
}

function dataComplaint(data) {
  if (data === null || data === undefined) return complain(Code.invalidParameter, 'The signal data must not be null or undefined.');
  let length;
  try {
    // The web client counts JSON text in UTF-16 units, quotes and escapes included. That is stricter than the server's
    // rule, which counts the raw string; programs that probe the limit expect this one.
    length = JSON.stringify(data).length;
  } catch {
    return complain(Code.invalidParameter, 'The signal data cannot be written as JSON.');
  }
  if (length > DATA_JSON_LENGTH) return complain(Code.tooLong, `The signal data is longer than ${DATA_JSON_LENGTH} characters of JSON.`);
  return null;
}

function targetComplaint(to, isTarget) {
  return isTarget(to) ? null : complain(Code.invalidParameter, 'The signal target must be a Connection of this session.');
}

function typeComplaint(type) {
  if (type === null || type === undefined) return complain(Code.invalidParameter, 'The signal type must not be null or undefined.');
  if (type.length > TYPE_LENGTH) return complain(Code.tooLong, `The signal type is longer than ${TYPE_LENGTH} characters.`);
  if (!TYPE_PATTERN.test(type)) return complain(Code.invalidParameter, 'The signal type may hold letters, digits, "-", ".", "_" and "~" only, and at least one.');
  return null;
}

function booleanComplaint(name, value) {
  return typeof value === 'boolean' ? null : complain(Code.invalidParameter, `${name} must be true or false.`);
}

function complain(code, message) {
  return { code, message };
}
