import {
  type Event,
  type EventDraft,
  memoryStore,
  type Runtime,
  runtime,
  type Store,
} from 'adjutant';
import type { AdjutantServer } from '../../../src/index.ts';
import { changedStore } from '../../changed-store.ts';
import { type ReadFrame, SseReader } from '../../stream/sse-reader.ts';

export const session = 'long';
export const stream = `/v1/sessions/${session}/stream`;

type DistributiveOmit<Of, Key extends PropertyKey> = Of extends unknown ? Omit<Of, Key> : never;
type Drafted = DistributiveOmit<EventDraft, 'by'>;

/**
 * The events of one run that calls a tool and answers; @param isOpen it has not come to its end.
 */
export function runEvents(run: string, isOpen = false): readonly EventDraft[] {
  const usage = { inputTokens: 10, outputTokens: 5 };
  const callId = `${run}/r1.0`;
  const common = { invocationId: run, agent: 'worker' };
  const drafts: unknown[] = [
    { type: 'invocation_start', invocationId: run, kind: 'agent', name: 'worker', mode: 'root' },
    { type: 'user', invocationId: run, text: `What is ${run}?`, clientKey: run, by: 'user' },
    { type: 'model_start', ...common, model: 'scripted', round: 1, attempt: 1, recipe: {} },
    { type: 'tool_call', ...common, callId, name: 'look', args: { at: run } },
    { type: 'model_end', invocationId: run, round: 1, attempt: 1, status: 'completed', usage },
    {
      type: 'tool_result',
      invocationId: run,
      callId,
      name: 'look',
      result: { status: 'success', content: `seen ${run}` },
      settled: true,
    },
    { type: 'model_start', ...common, model: 'scripted', round: 2, attempt: 1, recipe: {} },
    { type: 'assistant', ...common, text: `It is ${run}.`, round: 2 },
    { type: 'model_end', invocationId: run, round: 2, attempt: 1, status: 'completed', usage },
    { type: 'invocation_end', invocationId: run, status: 'completed', output: `It is ${run}.` },
  ];
  const told = isOpen ? drafts.slice(0, -3) : drafts;
  return told.map((draft) => ({ by: 'runtime', ...(draft as Drafted) }) as EventDraft);
}

/** Counts what is read of ledgers. */
export interface Reads {
  events: number;
}

/** A store that counts the events that it gives. */
export function countedReads(
  inner: Store = memoryStore(),
  reads: Reads = { events: 0 },
): { readonly store: Store; readonly reads: Reads } {
  const store = changedStore(inner, (ledgers) => ({
    async *read(...args) {
      for await (const page of ledgers.read(...args)) {
        reads.events += page.length;
        yield page;
      }
    },
    async *readStored(...args) {
      for await (const page of ledgers.readStored(...args)) {
        reads.events += page.length;
        yield page;
      }
    },
  }));
  return { store, reads };
}

/** An app whose session has these events. */
export async function appWith(
  store: Store,
  drafts: readonly EventDraft[],
  id: string = session,
): Promise<Runtime> {
  const app = runtime({ app: 'test', store, recover: 'manual' });
  await append(app, drafts, id);
  return app;
}

let made = 0;

/** Appends events to a session, as another process would. */
export async function append(
  app: Runtime,
  drafts: readonly EventDraft[],
  id: string = session,
): Promise<void> {
  const ledgers = app.store.for({ tenant: app.tenant, app: app.app });
  const claim = await ledgers.claim(id, `owner-${++made}`, { ttlMs: 60_000, force: true });
  const events = drafts.map(
    (draft, i) =>
      ({ v: 1, seq: claim.seq + i + 1, id: `made${made}x${i}`, at: 1_000, ...draft }) as Event,
  );
  await ledgers.append(id, claim, { events });
  await ledgers.release(claim);
}

/** The events of many runs. */
export function manyRuns(count: number, from = 1): readonly EventDraft[] {
  return Array.from({ length: count }, (_, i) => runEvents(`run-${from + i}`)).flat();
}

export function get(made: AdjutantServer, path: string, signal?: AbortSignal): Promise<Response> {
  return made.fetch(new Request(`http://localhost${path}`, signal === undefined ? {} : { signal }));
}

export async function open(made: AdjutantServer, path: string): Promise<SseReader> {
  return new SseReader(await get(made, path));
}

export async function lastOf(app: Runtime): Promise<string> {
  return String((await app.sessions.list({ id: session })).sessions[0]?.seq);
}

/** Reads a stream up to an event, and goes. */
export async function readTo(
  made: AdjutantServer,
  path: string,
  id: string,
): Promise<readonly ReadFrame[]> {
  const reader = await open(made, path);
  const frames = await reader.until((frame) => frame.id === id);
  await reader.close();
  return frames;
}
