import type { Event, EventOf } from '../ledger/event.ts';

/** A stretch of time, in epoch milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Milliseconds that are in any of these stretches, and in the one that is given. */
export function lengthOf(
  spans: readonly Span[],
  within: Span = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY },
): number {
  const sorted = spans
    .map(({ from, to }) => ({ from: Math.max(from, within.from), to: Math.min(to, within.to) }))
    .filter(({ from, to }) => to > from)
    .sort((a, b) => a.from - b.from);
  let length = 0;
  let reached = Number.NEGATIVE_INFINITY;
  for (const { from, to } of sorted) {
    if (to <= reached) continue;
    length += to - Math.max(from, reached);
    reached = to;
  }
  return length;
}

/**
 * When the work of some events stood still: questions from being asked to being answered, rest from
 * a yield to its resume, and the time between two processes.
 * @param own the events of one invocation or call
 * @param all those of the ledger
 * @param lastAt the end of what still waits
 */
export function waitingSpans(
  own: readonly Event[],
  all: readonly Event[],
  lastAt: number,
): readonly Span[] {
  const spans: Span[] = [];
  const asked = new Map<string, number>();
  let rest: number | undefined;
  for (const event of own) {
    if (event.type === 'tool_yield') asked.set(event.requestId, event.at);
    else if (event.type === 'tool_input') endOf(asked, event, spans);
    else if (event.type === 'invocation_yield') rest ??= event.at;
    else if (event.type === 'invocation_resume') {
      spans.push({ from: rest ?? stoppedAt(all, event), to: event.at });
      rest = undefined;
    } else if (event.type === 'invocation_end') {
      for (const from of asked.values()) spans.push({ from, to: event.at });
      asked.clear();
      rest = undefined;
    }
  }
  for (const from of asked.values()) spans.push({ from, to: lastAt });
  if (rest !== undefined) spans.push({ from: rest, to: lastAt });
  return spans;
}

function endOf(
  asked: Map<string, number>,
  { requestId, at, answeredAt }: EventOf<'tool_input'>,
  spans: Span[],
): void {
  const from = asked.get(requestId);
  if (from === undefined) return;
  spans.push({ from, to: Math.min(at, answeredAt ?? at) });
  asked.delete(requestId);
}

/** Events that another process or a person adds before the run continues. */
const betweenProcesses: ReadonlySet<Event['type']> = new Set([
  'invocation_resume',
  'tool_input',
  'user',
  'cancel',
  'decision',
  'invocation_reopen',
]);

/**
 * When the process stopped whose work an event goes on with: the time of the last thing that it
 * did.
 */
function stoppedAt(all: readonly Event[], resume: Event): number {
  for (let seq = resume.seq - 1; seq >= 1; seq--) {
    const before = all[seq - 1];
    if (before !== undefined && !betweenProcesses.has(before.type)) return before.at;
  }
  return resume.at;
}
