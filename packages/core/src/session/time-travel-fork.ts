import { defined } from '../base/defined.ts';
import { deepFreeze } from '../base/json.ts';
import { type DecisionDraft, decision, isDecision } from '../ledger/decisions/decision.ts';
import { SessionNotFoundError } from '../ledger/errors.ts';
import {
  type Actor,
  type Event,
  type EventDraft,
  type EventType,
  eventVersions,
} from '../ledger/event.ts';
import type { Ledger, LedgerPorts } from '../ledger/ledger.ts';
import type { LedgerHead } from '../ledger/port.ts';
import { checkSeq } from './time-travel.ts';

/**
 * Treatment of a fork's shared scopes. `isolated`: it reads the values that its prefix saw last,
 * and keeps its writes to itself. `live`: it is bound to them like any other session.
 */
export type ForkScopes = 'isolated' | 'live';

interface ForkRecord {
  /** Id of the fork. */
  readonly session: string;
  readonly shared: ForkScopes;
  /**
   * Id of the original session, and the last event that they share. Unknown for a fork that was not
   * recorded when it was made.
   */
  readonly from?: string | undefined;
  readonly at: number;
  /** Actor that made the fork. @default 'operator' */
  readonly by?: Actor | undefined;
  /** Number of the events of edits that follow. @default 0 */
  readonly edits?: number | undefined;
}

const texts: Readonly<Record<ForkScopes, string>> = {
  isolated: 'Reads shared state as its prefix has seen it, and keeps what it writes to itself',
  live: 'Reads and writes shared state like any other session',
};

/**
 * Makes the first own event of a fork: every process that opens it treats its shared scopes
 * accordingly.
 */
export function forkDecision({
  session,
  shared,
  from,
  at,
  by = 'operator',
  edits,
}: ForkRecord): DecisionDraft {
  const data = defined({ session, at, from, edits });
  return decision('fork', shared, { by, reasoning: texts[shared], data });
}

function lastForkDecision(outside: readonly Event[]) {
  return outside.findLast((event) => isDecision(event, 'fork'));
}

/**
 * Checks that a session keeps its writes to shared scopes to itself.
 * @param outside events of its ledger that belong to no invocation
 */
export function isIsolated(outside: readonly Event[]): boolean {
  return lastForkDecision(outside)?.decision === 'isolated';
}

/** True for a ledger to which nothing was written since it was made as a fork, with its edits. */
export function isFreshFork(events: readonly Event[]): boolean {
  const made = events.findLastIndex((event) => isDecision(event, 'fork'));
  const event = events[made];
  return isDecision(event, 'fork') && made + 1 + (event.data?.edits ?? 0) === events.length;
}

/**
 * Makes the event that isolates the shared scopes of a copy in every process that opens it. None
 * when it has no scopes, or is isolated already.
 */
export function copyDecisions(
  { session, lastSeq, invocations }: Ledger,
  scopes: readonly string[],
): readonly EventDraft[] {
  if (scopes.length === 0 || isIsolated(invocations.outside)) return [];
  return [forkDecision({ session, shared: 'isolated', at: lastSeq })];
}

/**
 * Checks that a ledger is a fork without a recorded treatment of its shared scopes: it was made by
 * the store alone.
 */
export function isUnrecordedFork(
  session: string,
  head: LedgerHead,
  outside: readonly Event[],
): boolean {
  // Any other ledger with events was claimed for the first of them.
  return head.epoch === 0 && head.seq > 0 && lastForkDecision(outside)?.data?.session !== session;
}

interface ForkToMake extends Omit<ForkRecord, 'session' | 'from' | 'at' | 'edits'> {
  /** Id of the fork. */
  readonly id: string;
  readonly at?: number;
  /** Returns the events of edits of a fork with a place. @default none */
  readonly edit?: ((at: number) => Promise<readonly EventDraft[]>) | undefined;
}

/**
 * Makes a fork together with the treatment of its shared scopes and its edits: none of them exists
 * without the others. Without edits it reads only one event. No process owns the fork.
 * @throws SessionNotFoundError, SessionExistsError, SeqOutOfRangeError, the errors of `edit`
 */
export async function makeFork(ports: LedgerPorts, from: string, fork: ForkToMake) {
  const { store, scope } = ports;
  const head = await store.head(from);
  if (head === undefined) throw new SessionNotFoundError({ session: from, app: scope.app });
  checkSeq(fork.at ?? head.seq, head.seq);
  const at = await afterAnswer(ports, from, fork.at ?? head.seq, head.seq);
  const { id: session, shared, by } = fork;
  const edits = (await fork.edit?.(at)) ?? [];
  const count = edits.length === 0 ? undefined : edits.length;
  const record = { session, shared, from, at, by, edits: count };
  await store.fork(from, at, session, await firstEvents(ports, from, record, edits));
}

/** Types of the events within one answer of a model, which is one append. */
const answerParts: ReadonlySet<EventType> = new Set([
  'thought',
  'assistant',
  'tool_call',
  'decision',
  'handoff',
  'state_change',
]);

/**
 * Returns the end of the answer that contains a place, else the place: a fork has all of an answer
 * or nothing.
 */
async function afterAnswer(
  { store }: LedgerPorts,
  from: string,
  at: number,
  last: number,
): Promise<number> {
  if (at === 0 || at === last) return at;
  let inside: string | undefined;
  for await (const page of store.read(from, { after: at - 1 })) {
    for (const { seq, type, invocationId } of page) {
      if (seq === at) inside = invocationId;
      if (inside === undefined || invocationId !== inside) return at;
      if (type === 'model_end') return seq;
      if (!answerParts.has(type)) return at;
    }
  }
  return at;
}

/**
 * Returns the first events of a fork's own.
 * @param holder a session that has the last shared event
 */
async function firstEvents(
  { store, clock, ids }: LedgerPorts,
  holder: string,
  record: ForkRecord,
  edits: readonly EventDraft[] = [],
): Promise<readonly Event[]> {
  const { at: seq } = record;
  let lastAt = 0;
  if (seq > 0)
    for await (const page of store.read(holder, { after: seq - 1, upTo: seq }))
      lastAt = page.at(-1)?.at ?? lastAt;
  const at = Math.max(clock.now(), lastAt);
  return [forkDecision(record), ...edits].map(
    (draft, index) =>
      deepFreeze({
        v: eventVersions[draft.type],
        seq: seq + 1 + index,
        id: ids.next(),
        at,
        ...draft,
      }) as Event,
  );
}

/**
 * Appends the treatment of shared scopes to a fork that no process has written to yet, and releases
 * it. For forks that the store alone made.
 * @throws SessionBusyError while another process does the same
 */
export async function recordFork(ports: LedgerPorts, record: ForkRecord): Promise<void> {
  const { store, owner, leaseMs } = ports;
  const { session, at: seq } = record;
  const events = await firstEvents(ports, session, record);
  const claim = await store.claim(session, owner, { ttlMs: leaseMs });
  try {
    if (claim.seq === seq) await store.append(session, { seq, epoch: claim.epoch }, { events });
  } finally {
    await store.release(claim);
  }
}
