import type { JsonObject } from '../../base/json.ts';
import { offsetAt } from '../schedules/zone.ts';
import type { TriggerInfo } from '../service/trigger-row.ts';

/** A trigger as a model sees it. Instants are ISO 8601 in the zone of the schedule. */
export interface ToldTrigger {
  readonly name: string;
  readonly status: string;
  readonly on: JsonObject;
  readonly start: string;
  readonly input?: string;
  readonly next?: string;
  readonly fired: number;
  readonly failed: number;
  readonly last?: { readonly at: string; readonly status: string };
}

/** Returns a trigger as a model sees it. */
export function toldTrigger(trigger: TriggerInfo, zone: string): ToldTrigger {
  const { fired, failed, input, last, name, nextAt, on, start, status } = trigger;
  const timeZone = zoneOf(on) ?? zone;
  return {
    ...{ name, status, start, fired, failed },
    on: on['kind'] === 'at' ? { ...on, instant: isoIn(timeZone, Number(on['instant'])) } : on,
    ...(input === undefined ? {} : { input }),
    ...(nextAt === undefined ? {} : { next: isoIn(timeZone, nextAt) }),
    ...(last === undefined
      ? {}
      : { last: { at: isoIn(timeZone, last.at), status: last.status ?? 'goes on' } }),
  };
}

/** Zone of the local times of a schedule, if it has any. */
export function zoneOf(on: object): string | undefined {
  const { timeZone } = on as { readonly timeZone?: unknown };
  return typeof timeZone === 'string' ? timeZone : undefined;
}

/** Returns an instant in a zone by ISO 8601, with its offset: `2027-03-15T08:30:00-04:00`. */
export function isoIn(timeZone: string, instant: number): string {
  const offset = offsetAt(timeZone, instant);
  const local = new Date(instant + offset).toISOString().slice(0, 19);
  const minutes = Math.abs(offset) / 60_000;
  const parts = [Math.floor(minutes / 60), Math.floor(minutes % 60)];
  const digits = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return `${local}${offset < 0 ? '-' : '+'}${digits}`;
}
