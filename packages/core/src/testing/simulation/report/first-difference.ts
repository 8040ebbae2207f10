import type { JsonValue } from '../../../base/json.ts';
import type { Event } from '../../../ledger/event.ts';
import { jsonDifferences } from '../../../replay/json-difference.ts';
import type { SeedOutcome } from '../simulate-seed.ts';

/** Fields that differ in all events after the first other difference. */
const followingFields = ['id', 'at', 'seq'];
/** Characters of a value that are shown. */
const shownLength = 120;

/** The place at which two runs of one seed part, and where to look for the reason. */
export function firstDifference(one: SeedOutcome, other: SeedOutcome): string {
  const texts = [eventDifference(one.ledgers, other.ledgers), callDifference(one, other)];
  const told = texts.filter((text) => text !== undefined);
  const places = told.length === 0 ? ['no event and no call of a port differs'] : told;
  return `${places.join('; ')}. ${hintFor(places.join(' '))}`;
}

type Ledgers = SeedOutcome['ledgers'];

/** The event that differs first in its ledger. Of several ledgers, the earliest event. */
function eventDifference(ones: Ledgers, others: Ledgers): string | undefined {
  const pairs = ones.flatMap((events, ledger) => {
    const index = events.findIndex((event, at) => !isSame(event, others[ledger]?.[at]));
    const at = index < 0 && events.length < (others[ledger]?.length ?? 0) ? events.length : index;
    return at < 0 ? [] : [{ one: events[at], other: others[ledger]?.[at] }];
  });
  const timeOf = ({ one, other }: (typeof pairs)[number]): number => one?.at ?? other?.at ?? 0;
  const [first] = pairs.toSorted((left, right) => timeOf(left) - timeOf(right));
  if (first === undefined) return undefined;
  const { one, other } = first;
  const event = one ?? (other as Event);
  const about = `event ${event.seq} of ${event.invocationId ?? 'its session'} (${event.type})`;
  if (one === undefined || other === undefined) return `${about} is in one of the runs alone`;
  if (one.type !== other.type) return `${about} is ${other.type} in the second run`;
  const places = jsonDifferences(one as unknown as JsonValue, other as unknown as JsonValue);
  const place = places.find(({ path }) => !followingFields.includes(path)) ?? places[0];
  const [recorded, replayed] = [place?.recorded, place?.replayed].map(shown);
  return `${about}: \`${place?.path}\` is ${recorded}, then ${replayed}`;
}

function isSame(one: Event, other: Event | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function callDifference(one: SeedOutcome, other: SeedOutcome): string | undefined {
  const index = one.calls.findIndex((line, at) => line !== other.calls[at]);
  if (index < 0) return undefined;
  return `call ${index + 1} is ${shown(one.calls[index])}, then ${shown(other.calls[index])}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
}

/** Names the source of a difference, where the values show it. */
function hintFor(text: string): string {
  if (/\b1[5-9]\d{11}\b/.test(text))
    return 'It looks like Date.now(): steps and tools take time from ctx.now()';
  if (/\b0\.\d{10,}/.test(text))
    return 'It looks like Math.random(): steps and tools take chance from ctx.random(key)';
  return 'Look for state outside `makeApp`, Date.now(), Math.random(), timers, files and sockets';
}
