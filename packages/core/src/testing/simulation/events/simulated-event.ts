import { isEventType } from '../../../base/bus/event-pattern.ts';
import { findJsonDefect, type JsonValue } from '../../../base/json.ts';
import {
  describeValue,
  findInvalidOption,
  isAnything,
  isCount,
  isNonEmptyText,
  type OptionChecks,
} from '../../../base/options.ts';
import { refuse } from '../options/check-app.ts';

/** An event that people publish. */
export interface SimulatedEvent {
  /** Names with full stops between them: 'mail.received'. */
  readonly type: string;
  /** @default null */
  readonly data?: JsonValue;
  /** Part of the system that it comes from. @default the app */
  readonly source?: string;
  /** Number of times that one of it is published, each at a time of its own. @default 1 */
  readonly times?: number;
}

const checks: OptionChecks<SimulatedEvent> = {
  type: isAnything,
  data: isAnything,
  source: isNonEmptyText,
  times: isCount,
};
const mostTimes = 1_000;

/** @throws InvalidOptionError for events that nobody can publish */
export function checkEventsOfPeople(events: readonly unknown[]): void {
  for (const [index, event] of events.entries()) {
    const place = `events[${index}]`;
    const invalid = findInvalidOption<SimulatedEvent>(event, checks);
    if (invalid !== undefined) refuse(`\`${place}\` must be ${invalid.within}`);
    const { data, times = 1, type } = event as SimulatedEvent;
    if (!isEventType(type))
      refuse(`\`${place}.type\` must be names such as 'mail.received', not ${describeValue(type)}`);
    if (data !== undefined && findJsonDefect(data) !== undefined)
      refuse(`\`${place}.data\` must be JSON`);
    if (times > mostTimes) refuse(`\`${place}.times\` must be at most ${mostTimes}`);
  }
}
