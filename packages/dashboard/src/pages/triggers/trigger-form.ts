import type { NewTrigger, TriggerSchedule } from '@adjutant/server/client';

/** Fields of a new trigger, as they were written. */
export interface TriggerFields {
  readonly name: string;
  readonly start: string;
  readonly kind: 'cron' | 'every' | 'at' | 'event';
  readonly pattern: string;
  readonly timeZone: string;
  readonly every: string;
  /** Milliseconds of the unit of `every`. */
  readonly unit: string;
  /** Day and time in the reader's zone, as a field for them has it. */
  readonly instant: string;
  readonly eventPattern: string;
  readonly input: string;
  readonly overlap: string;
  readonly missed: string;
}

export const blankFields: TriggerFields = {
  name: '',
  start: '',
  kind: 'cron',
  pattern: '0 8 * * 1-5',
  timeZone: 'UTC',
  every: '15',
  unit: '60000',
  instant: '',
  eventPattern: '',
  input: '',
  overlap: '',
  missed: '',
};

/** Returns the schedule of a form; `undefined` while it is not whole, and for events. */
export function scheduleOf(fields: TriggerFields): TriggerSchedule | undefined {
  switch (fields.kind) {
    case 'cron':
      return fields.pattern.trim() === ''
        ? undefined
        : { kind: 'cron', pattern: fields.pattern.trim(), timeZone: fields.timeZone };
    case 'every': {
      const everyMs = Number(fields.every) * Number(fields.unit);
      return fields.every.trim() === '' || !(everyMs > 0) ? undefined : { kind: 'every', everyMs };
    }
    case 'at': {
      const instant = new Date(fields.instant).getTime();
      return Number.isNaN(instant) ? undefined : { kind: 'at', instant };
    }
    default:
      return undefined;
  }
}

const missing = {
  cron: 'Write a pattern, such as 0 8 * * 1-5.',
  every: 'Write how often, as a number.',
  at: 'Choose a day and a time.',
  event: 'Write a type of events, such as mail.*.',
};

/** Returns the trigger of a form, or what is missing. */
export function triggerOf(fields: TriggerFields): NewTrigger | string {
  const { name, start, kind, eventPattern, input, overlap, missed } = fields;
  if (name.trim() === '') return 'Give it a name.';
  if (start === '') return 'Choose what it starts.';
  const event = eventPattern.trim();
  const on = kind !== 'event' ? scheduleOf(fields) : event === '' ? undefined : eventOf(event);
  if (on === undefined) return missing[kind];
  return {
    name: name.trim(),
    on,
    start,
    ...(input.trim() === '' ? {} : { input }),
    ...(overlap === '' ? {} : { overlap: overlap as NonNullable<NewTrigger['overlap']> }),
    ...(missed === '' ? {} : { missed: missed as NonNullable<NewTrigger['missed']> }),
  };
}

function eventOf(pattern: string) {
  return { kind: 'event', pattern } as const;
}

/** Place of an instant in a span of time, in percent; `undefined` outside of it. */
export function placeIn(at: number, from: number, spanMs: number): number | undefined {
  const share = (at - from) / spanMs;
  return share < 0 || share > 1 ? undefined : share * 100;
}
