import type { JsonValue } from '../../../base/json.ts';
import { describeValue } from '../../../base/options.ts';
import { replaceReferences } from '../../../ledger/blobs/blob.ts';
import type { Event } from '../../../ledger/event.ts';
import { rootOf } from '../../../ledger/path.ts';
import type { AnySession } from '../../../session/session.ts';
import { refuseUse } from './errors.ts';

/**
 * A source that the matchers and `ledgerStory` take. It is a session, the result of a run or of
 * `runTest`, or a list of events. A recorded ledger (`session.toJSON()`, a ledger file) is one too.
 * For the result of a run, the events of that run count.
 */
export type LedgerSource =
  | AnySession
  | { readonly session: AnySession }
  | readonly Event[]
  | { readonly events: readonly Event[]; readonly blobs?: Readonly<Record<string, JsonValue>> };

/** A source with its events read. */
export interface ReadSource {
  /** The kind of the source, for sentences: `session`, `run`, `events`, `ledger`. */
  readonly kind: 'session' | 'run' | 'test' | 'events' | 'ledger';
  readonly events: readonly Event[];
  /** Puts large values in the place of their references, as far as the source has them. */
  readonly resolve: (value: unknown) => unknown;
  readonly session: AnySession | undefined;
  /** The result of a run or of a test. */
  readonly result: { readonly status: unknown; readonly error?: unknown } | undefined;
  /** The id of the run that the events belong to. */
  readonly run: string | undefined;
}

const accepted =
  'a session, `session.events`, the result of a run or of `runTest`, or a recorded ledger';

/**
 * Reads a source.
 * @throws InvalidMatcherUseError when it has no events
 */
export function readSource(matcher: string, received: unknown): ReadSource {
  const refuse = (found: string): never => refuseUse(matcher, `it needs ${accepted}, not ${found}`);
  if (Array.isArray(received)) return readEvents(received, refuse);
  if (typeof received !== 'object' || received === null) return refuse(describeValue(received));
  const { then, session, events, runId, blobs } = received as Readonly<Record<string, unknown>>;
  if (typeof then === 'function') return refuse('a promise: await it first, `expect(await …)`');
  if (isSession(received)) return sourceOfSession('session', received);
  if (isSession(session))
    return sourceOfResult(received as { status: unknown }, session, runId, events, refuse);
  if (Array.isArray(events)) {
    return { ...readEvents(events, refuse), kind: 'ledger', resolve: resolverOf(blobs) };
  }
  const members = Object.keys(received);
  return refuse(
    members.length === 0
      ? 'an object with no members'
      : `an object with the members ${members.join(', ')}`,
  );
}

function resolverOf(blobs: unknown): ReadSource['resolve'] {
  if (typeof blobs !== 'object' || blobs === null) return (value) => value;
  const values = blobs as Readonly<Record<string, unknown>>;
  return (value) =>
    replaceReferences(value, (reference) =>
      Object.hasOwn(values, reference.$blob) ? values[reference.$blob] : reference,
    );
}

/** Checks for a session, which may be of another copy of the package. */
function isSession(value: unknown): value is AnySession {
  if (typeof value !== 'object' || value === null) return false;
  const { events, ledger } = value as { events?: unknown; ledger?: { resolve?: unknown } };
  return Array.isArray(events) && typeof ledger?.resolve === 'function';
}

function sourceOfSession(kind: ReadSource['kind'], session: AnySession): ReadSource {
  return {
    kind,
    events: session.events,
    resolve: session.ledger.resolve,
    session,
    result: undefined,
    run: undefined,
  };
}

function sourceOfResult(
  result: { status: unknown },
  session: AnySession,
  runId: unknown,
  events: unknown,
  refuse: (found: string) => never,
): ReadSource {
  const whole = sourceOfSession('test', session);
  if (typeof runId !== 'string')
    return {
      ...whole,
      result,
      ...(Array.isArray(events) ? { events: readEvents(events, refuse).events } : {}),
    };
  return {
    ...whole,
    kind: 'run',
    result,
    run: runId,
    events: session.events.filter(
      (event) => event.invocationId !== undefined && rootOf(event.invocationId) === runId,
    ),
  };
}

function readEvents(events: readonly unknown[], refuse: (found: string) => never): ReadSource {
  const stranger = events.findIndex(
    (event) => typeof (event as { type?: unknown } | null | undefined)?.type !== 'string',
  );
  if (stranger >= 0)
    refuse(`a list whose entry ${stranger} is ${describeValue(events[stranger])} and no event`);
  return {
    kind: 'events',
    events: events as readonly Event[],
    resolve: (value) => value,
    session: undefined,
    result: undefined,
    run: undefined,
  };
}
