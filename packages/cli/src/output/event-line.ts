import type { StoredEvent } from 'adjutant';
import { visibleJson } from 'adjutant/text';
import { shorten } from './format.ts';
import { plainLine } from './plain-text.ts';
import type { Style } from './style.ts';

const longestData = 160;
const typeWidth = 17;
const timeWidth = 12;

/**
 * Returns an event on one line: its place, time, type, invocation and the beginning of its data.
 */
export function eventLine(style: Style, event: StoredEvent): string {
  if (event.type === 'unreadable') {
    const text = shorten(
      plainLine(`${event.reason}: ${JSON.stringify(event.stored ?? null)}`),
      longestData,
    );
    return (
      `${String(event.seq).padStart(5)}  ${' '.repeat(timeWidth)}  ` +
      `${style.red(event.type.padEnd(typeWidth))} ${text}`
    );
  }
  const { seq, at, type, invocationId, by, id: _id, v: _version, ...data } = event;
  const time = new Date(at).toISOString().slice(11, 23);
  const place = invocationId === undefined ? '' : `${style.dim(plainLine(invocationId))} `;
  const text = shorten(visibleJson(data), longestData);
  return (
    `${String(seq).padStart(5)}  ${time}  ${style.cyan(type.padEnd(typeWidth))} ` +
    `${style.dim(plainLine(by).padEnd(8))} ${place}${text}`
  );
}
