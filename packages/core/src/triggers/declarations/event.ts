import { describeValue, isFunction } from '../../base/options.ts';
import { InvalidTriggerError } from '../errors.ts';

/** A published event, as the filter of a trigger sees it. */
export interface TriggerEvent {
  readonly source?: string | undefined;
  readonly type: string;
  readonly data?: unknown;
}

/** Fires on published events. Made by `event`. */
export interface EventTrigger {
  readonly kind: 'event';
  /** Type of the events, or a pattern of types. */
  readonly pattern: string;
  /** Filter of events that fit the pattern. */
  readonly where?: ((event: TriggerEvent) => boolean) | undefined;
}

/**
 * Fires on each event whose type fits: `event('mail.received')`. In a pattern, `*` is one part of a
 * type (`mail.*`), and `**` at the end is all further ones.
 * @param where a function of the event alone that picks those that count
 * @throws InvalidTriggerError for a pattern that fits no type
 */
export function event(pattern: string, where?: (event: TriggerEvent) => boolean): EventTrigger {
  const fault = patternFault(pattern) ?? whereFault(where);
  if (fault !== undefined) throw new InvalidTriggerError({ function: 'event', reason: fault });
  return { kind: 'event', pattern, ...(where === undefined ? {} : { where }) };
}

function patternFault(pattern: unknown): string | undefined {
  if (typeof pattern !== 'string')
    return `the pattern must be a string, not ${describeValue(pattern)}`;
  const parts = pattern.split('.');
  const fits = parts.every(
    (part, index) => /^([\w-]+|\*)$/.test(part) || (part === '**' && index === parts.length - 1),
  );
  return fits && pattern.length <= 200
    ? undefined
    : `the pattern ${describeValue(pattern)} is none: write a type such as 'mail.received', with ` +
        '`*` for one part and `**` for all parts at the end';
}

function whereFault(where: unknown): string | undefined {
  const expected = where === undefined ? undefined : isFunction(where);
  return expected && `the filter must be ${expected}, not ${describeValue(where)}`;
}
