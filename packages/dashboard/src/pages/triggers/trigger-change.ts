import type { ServerTrigger, TriggerChange } from '@adjutant/server/client';
import { blankFields, type TriggerFields, triggerOf } from './trigger-form.ts';

const kinds: readonly string[] = ['cron', 'every', 'at', 'event'];
/** Units of intervals, the largest first. */
const unitsMs = [86_400_000, 3_600_000, 60_000, 1_000];

/** Returns why a trigger cannot be changed by data; `undefined` when it can. */
export function unlessChangeable({ on, status }: ServerTrigger): string | undefined {
  if (status === 'deleted' || status === 'completed') return 'It fires no more.';
  return kinds.includes(on.kind) ? undefined : 'It has functions or secrets: change it in code.';
}

/** Returns the fields of a trigger as it is. */
export function fieldsOfTrigger(trigger: ServerTrigger): TriggerFields {
  const { name, start, on, input = '', overlap, missed } = trigger;
  return {
    ...blankFields,
    name,
    start,
    input,
    kind: (kinds.includes(on.kind) ? on.kind : 'cron') as TriggerFields['kind'],
    overlap: overlap === 'skip' ? '' : overlap,
    missed: missed === 'once' ? '' : missed,
    ...causeFields(on),
  };
}

function causeFields(on: ServerTrigger['on']): Partial<TriggerFields> {
  const { pattern, timeZone = 'UTC', everyMs, instant } = on as Readonly<Record<string, unknown>>;
  if (on.kind === 'event') return { eventPattern: String(pattern) };
  if (on.kind === 'cron') return { pattern: String(pattern), timeZone: String(timeZone) };
  if (on.kind === 'every') {
    const ms = Number(everyMs);
    const unit = unitsMs.find((one) => ms % one === 0) ?? 1_000;
    return { every: String(ms / unit), unit: String(unit) };
  }
  return on.kind === 'at' ? { instant: localTime(new Date(instant as number | string)) } : {};
}

/** A time as fields for days and times have it, in the reader's zone. */
function localTime(at: Date): string {
  if (Number.isNaN(at.getTime())) return '';
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** Returns what the reader has changed; or what is missing, in words. */
export function changeOf(trigger: ServerTrigger, fields: TriggerFields): TriggerChange | string {
  const wanted = triggerOf(fields);
  if (typeof wanted === 'string') return wanted;
  const before = triggerOf(fieldsOfTrigger(trigger));
  const isSame = (name: 'on' | 'start' | 'input' | 'overlap' | 'missed'): boolean =>
    typeof before !== 'string' && JSON.stringify(before[name]) === JSON.stringify(wanted[name]);
  const { on, start, input = null, overlap = null, missed = null } = wanted;
  const change: TriggerChange = {
    ...(isSame('on') ? {} : { on: withJitter(on, trigger) }),
    ...(isSame('start') ? {} : { start }),
    ...(isSame('input') ? {} : { input }),
    ...(isSame('overlap') ? {} : { overlap }),
    ...(isSame('missed') ? {} : { missed }),
  };
  return Object.keys(change).length === 0 ? 'Nothing is changed.' : change;
}

type On = NonNullable<TriggerChange['on']>;

/** The form has no field for it: an interval keeps the delay that it had. */
function withJitter(on: On, { on: before }: ServerTrigger): On {
  const { jitterMs } = before as { readonly jitterMs?: number };
  return on.kind === 'every' && before.kind === 'every' && jitterMs !== undefined
    ? { ...on, jitterMs }
    : on;
}
