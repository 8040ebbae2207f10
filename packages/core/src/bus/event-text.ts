import { InvalidBusEventError } from '../base/bus/event-error.ts';
import { isEventType } from '../base/bus/event-pattern.ts';
import { deepFreeze, findJsonDefect } from '../base/json.ts';
import { findInvalidOption, isAnything, isNumber, type OptionCheck } from '../base/options.ts';
import type { BusEvent } from './event-bus.ts';

const mostBytes = 65_536;

const isName: OptionCheck = (value) =>
  typeof value === 'string' && /^\P{C}{1,200}$/u.test(value)
    ? undefined
    : 'a string of 1 to 200 characters without control characters';

const isType: OptionCheck = (value) =>
  isEventType(value)
    ? undefined
    : "names with full stops between them, such as 'mail.received', of at most 200 characters";

const checks = { id: isName, source: isName, type: isType, data: isAnything, at: isNumber };

/**
 * Returns an event as the text that is carried.
 * @throws InvalidBusEventError
 */
export function writeEvent(event: BusEvent): string {
  const reason = reasonAgainst(event);
  if (reason !== undefined) throw new InvalidBusEventError({ reason });
  const { id, source, type, data, at } = event;
  const text = JSON.stringify({ id, source, type, data, at });
  const bytes = Buffer.byteLength(text);
  if (bytes <= mostBytes) return text;
  throw new InvalidBusEventError({
    reason:
      `it has ${bytes} bytes, and at most ${mostBytes} are carried: publish the place of its ` +
      'data',
  });
}

/** Reads an event that came; nothing for any other text, which others may have sent. */
export function readEvent(text: string): BusEvent | undefined {
  try {
    const event = JSON.parse(text) as BusEvent;
    return reasonAgainst(event) === undefined ? deepFreeze(event) : undefined;
  } catch {
    return undefined;
  }
}

function reasonAgainst(event: BusEvent): string | undefined {
  try {
    // `null` stands for a missing member, because the check ignores `undefined`.
    const { id = null, source = null, type = null, at = null } = event ?? {};
    const invalid = findInvalidOption({ ...event, id, source, type, at }, checks);
    if (invalid !== undefined) return invalid.reason;
    const defect = findJsonDefect(event.data ?? (event.data === null ? null : undefined));
    return defect === undefined
      ? undefined
      : `its data is not JSON: ${defect.path.replace('$', 'data')} is ${defect.found}`;
  } catch (thrown) {
    // Getters may throw, and data may be nested too deeply to be looked at.
    const name = thrown instanceof Error ? thrown.name : 'no error';
    return `it cannot be read (${name})`;
  }
}
