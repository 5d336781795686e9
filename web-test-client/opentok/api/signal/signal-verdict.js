import { Code } from '../../../client/wire/codes.js';

export const TYPE_LENGTH = 128;
const DATA_JSON_LENGTH = 8192;
export const TYPE_PATTERN = /^[A-Za-z0-9\-._~]+$/;

/**
 * OpenTok's check of the options of `session.signal` before anything is sent: null, or the first error as `{code,
 * message}`.
 *
 * Only own properties count: a property may be absent, but not undefined. Checks run in the order data, to, type,
 * retryAfterReconnect, and last the extension onlineOnly. `isTarget` says whether a value is a connection or the
 * session.
 */
export function signalVerdict(options, isTarget) {
  const present = (name) => Object.hasOwn(options, name);
  return (
    (present('data') && dataError(options.data)) ||
    (present('to') && targetError(options.to, isTarget)) ||
    (present('type') && typeError(options.type)) ||
    (present('retryAfterReconnect') && booleanError('retryAfterReconnect', options.retryAfterReconnect)) ||
    (present('onlineOnly') && booleanError('onlineOnly', options.onlineOnly)) ||
    null
  );
}

/** The data as OpenTok clones them: a function becomes an empty object. */
export function clonedData(data) {
  return typeof data === 'function' ? {} : data;
}

function dataError(data) {
  if (data === null || data === undefined) {
    return invalid(Code.invalidParameter, 'The signal data must not be null or undefined.');
  }
  let length;
  try {
    // The web client counts JSON text in UTF-16 units, quotes and escapes included. That is stricter than the server's
    // rule, which counts the raw string; programs that test the limit expect this one.
    length = JSON.stringify(clonedData(data)).length;
  } catch {
    return invalid(Code.invalidParameter, 'The signal data cannot be written as JSON.');
  }
  if (length > DATA_JSON_LENGTH) {
    return invalid(Code.tooLong, `The signal data is longer than ${DATA_JSON_LENGTH} characters of JSON.`);
  }
  return null;
}

function targetError(to, isTarget) {
  if (isTarget(to)) return null;
  return invalid(Code.invalidParameter, 'The signal target must be a Connection of this session.');
}

function typeError(type) {
  if (type === null || type === undefined) {
    return invalid(Code.invalidParameter, 'The signal type must not be null or undefined.');
  }
  if (type.length > TYPE_LENGTH) {
    return invalid(Code.tooLong, `The signal type is longer than ${TYPE_LENGTH} characters.`);
  }
  if (!TYPE_PATTERN.test(type)) {
    const message =
      'The signal type must have at least one character, and only letters, digits, "-", ".", "_" and "~".';
    return invalid(Code.invalidParameter, message);
  }
  return null;
}

function booleanError(name, value) {
  return typeof value === 'boolean' ? null : invalid(Code.invalidParameter, `${name} must be true or false.`);
}

function invalid(code, message) {
  return { code, message };
}
