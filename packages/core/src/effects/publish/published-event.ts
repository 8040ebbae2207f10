import { InvalidBusEventError } from '../../base/bus/event-error.ts';
import { isEventType } from '../../base/bus/event-pattern.ts';
import { findJsonDefect, type JsonValue } from '../../base/json.ts';
import {
  describeValue,
  findInvalidOption,
  isAnything,
  isNonEmptyText,
} from '../../base/options.ts';
import type { CauseData, PublishedEvent } from '../../ledger/decisions/service-decisions.ts';

/** An event to be published. */
export interface EventToPublish {
  /** Names with full stops between them, from the general to the special: 'mail.received'. */
  readonly type: string;
  /** Part of the system that it comes from. @default the app */
  readonly source?: string;
  /** At most 65,536 bytes of JSON. @default null */
  readonly data?: JsonValue;
  /** Id of the event: the same one again is the same event. @default a new one */
  readonly id?: string;
}

/** Bytes of the largest data of an event. */
const mostBytes = 65_536;

/**
 * Checks an event.
 * @throws InvalidBusEventError
 */
export function publishedEvent(
  given: EventToPublish,
  own: { readonly id: string; readonly at: number; readonly cause?: CauseData | undefined },
): PublishedEvent {
  const invalid = findInvalidOption(given, {
    type: isAnything,
    source: isNonEmptyText,
    data: isAnything,
    id: isNonEmptyText,
  });
  const reason = invalid?.reason ?? faultOf(given);
  if (reason !== undefined) throw new InvalidBusEventError({ reason });
  const { data = null, id = own.id, source, type } = given;
  const { at, cause } = own;
  const more = { ...(source === undefined ? {} : { source }), ...(cause ? { cause } : {}) };
  return { id, type, data, at, ...more };
}

function faultOf({ data, id, type }: EventToPublish): string | undefined {
  if (!isEventType(type))
    return (
      "the type must be names with full stops between them, such as 'mail.received', not " +
      describeValue(type)
    );
  if (id !== undefined && id.length > 200) return '`id` must have at most 200 characters';
  const defect = data === undefined ? undefined : findJsonDefect(data);
  if (defect !== undefined) return '`data` must be a JSON value';
  const bytes = data === undefined ? 0 : Buffer.byteLength(JSON.stringify(data));
  return bytes > mostBytes
    ? `\`data\` has ${bytes} bytes, and an event has at most ${mostBytes}; publish a reference`
    : undefined;
}
