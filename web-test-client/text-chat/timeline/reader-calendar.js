/**
 * The reader's days: a function from milliseconds since 1970 to `2026-03-29`. The default time zone is the reader's
 * own, with its daylight-saving time.
 * @type {(timeZone?: string) => Calendar}
 */
export function readerCalendar(timeZone) {
  const format = new Intl.DateTimeFormat('en-u-ca-gregory', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hourCycle: 'h23',
    hour: '2-digit',
    minute: '2-digit',
  });
  // `Intl` is slow, and most messages are of the same quarter of an hour as the one before. No zone changes within a
  // quarter.
  let quarter = null;
  let day = '';
  return (moment) => {
    const bounded = Math.min(Math.max(moment, -8.64e15), 8.64e15);
    if (Math.floor(bounded / 900_000) !== quarter) {
      quarter = Math.floor(bounded / 900_000);
      day = dayOf(format.formatToParts(bounded));
    }
    return day;
  };
}

function dayOf(parts) {
  const part = (type) => parts.find((each) => each.type === type)?.value ?? '';
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
}
