import type { Event } from '../../../ledger/event.ts';
import { jsonDifferences } from '../../../replay/json-difference.ts';
import type { SeedOutcome } from '../simulate-seed.ts';

/** Fields that the runtime gives, and that differ wherever calls come at other times. */
const ownFields = ['id', 'at', 'seq'];
/** Characters of a value that are shown. */
const shownLength = 120;

/** The place at which two runs of one seed part, and where to look for the reason. */
export function firstDifference(one: SeedOutcome, other: SeedOutcome): string {
  const event = eventDifference(one.ledgers, other.ledgers);
  const texts = [event?.text, callDifference(one, other)].filter((text) => text !== undefined);
  const places = texts.length === 0 ? 'no event and no call of a port differs' : texts.join('; ');
  return `${places}. ${hintFor(event?.values ?? '')}`;
}

type Ledgers = SeedOutcome['ledgers'];

interface EventDifference {
  readonly text: string;
  /** The two values of a field, where the app has given them. */
  readonly values?: string;
}

/** The event that differs first in its ledger. Of several ledgers, the earliest event. */
function eventDifference(ones: Ledgers, others: Ledgers): EventDifference | undefined {
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
  if (one === undefined || other === undefined) return { text: `${about} is in one run alone` };
  if (one.type !== other.type) return { text: `${about} is ${other.type} in the second run` };
  const places = jsonDifferences(one, other);
  const place = places.find(({ path }) => !ownFields.includes(path)) ?? places[0];
  const [recorded, replayed] = [place?.recorded, place?.replayed].map(shown);
  const text = `${about}: \`${place?.path}\` is ${recorded}, then ${replayed}`;
  return ownFields.includes(place?.path ?? '')
    ? { text }
    : { text, values: `${recorded} ${replayed}` };
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

/** Names the source of a difference, where the two values show it. */
function hintFor(values: string): string {
  if (/\b1[5-9]\d{11}\b/.test(values))
    return 'It looks like Date.now(): steps and tools take time from ctx.now()';
  if (/\b0\.\d{10,}/.test(values))
    return 'It looks like Math.random(): steps and tools take chance from ctx.random(key)';
  return 'Look for state outside `makeApp`, Date.now(), Math.random(), timers, files and sockets';
}
