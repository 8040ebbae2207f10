import {
  isAdjutantError,
  type JsonValue,
  memoryStore,
  pending,
  type Runtime,
  runtime,
  type Session,
  type Store,
  type Tool,
  tool,
} from 'adjutant';
import { keptOpen } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { caller } from './calling-agent.ts';

const ask = tool({
  name: 'ask',
  description: 'Asks',
  schema: z.object({}),
  yieldSchema: z.object({ colour: z.enum(['red', 'blue']) }),
}) as Tool;

const begin = tool({
  name: 'begin',
  description: 'Begins',
  schema: z.object({}),
  outputSchema: z.object({ url: z.string() }),
  execute: () => pending({ operationId: 'op' }),
}) as Tool;

async function waiting(called: Tool = ask, store = keptOpen(memoryStore())) {
  const runnable = caller(called, {});
  const app: Runtime = runtime({ app: 'input', store, runnables: [runnable], recover: 'manual' });
  const first = await app.run(runnable, { input: 'Go', runId: 'run' });
  return { app, store, session: first.session as Session, callId: 'run/r1.0' };
}

/**
 * The error that a call, or the flush after it, ends with; and nothing of it is in the ledger or
 * the inbox.
 */
async function refusalOf(
  session: Session,
  store: Store,
  give: () => void,
): Promise<{ code: string; text: string }> {
  const ledgers = store.for({ tenant: 'default', app: 'input' });
  const before = await ledgers.head(session.id);
  let error: unknown;
  try {
    give();
    await session.flush();
  } catch (thrown) {
    error = thrown;
  }
  if (!isAdjutantError(error)) throw new Error(`It was not refused: ${String(error)}`);
  expect(await ledgers.head(session.id)).toEqual(before);
  return { code: error.code, text: JSON.stringify(error.data) + error.message };
}

describe('input that cannot be used', () => {
  test('for a call that does not exist, or that does not wait for it', async () => {
    const { session, store, callId } = await waiting();
    expect(
      await refusalOf(session, store, () => session.addToolInput('run/r9.9', {})),
    ).toMatchObject({ code: 'request_not_found' });
    const other = await waiting(begin);
    expect(
      await refusalOf(other.session, other.store, () => other.session.addToolInput(callId, {})),
    ).toMatchObject({ code: 'request_not_found' });
  });

  test.each<[string, JsonValue]>([
    ['a wrong value', { colour: 'mauve-coloured' }],
    ['no object', 'mauve-coloured'],
    ['a missing member', { color: 'mauve-coloured' }],
  ])('%s is refused without a word of it, and the call still waits', async (_name, input) => {
    const { app, session, store, callId } = await waiting();
    const refusal = await refusalOf(session, store, () => session.addToolInput(callId, input));
    expect(refusal.code).toBe('input_mismatch');
    expect(refusal.text).not.toContain('mauve');
    expect(session.pendingYieldingCalls).toMatchObject([{ callId, accepted: false }]);
    session.addToolInput(callId, { colour: 'red' });
    expect((await app.resume(session)).status).toBe('completed');
  });

  test('is told by the run that was to take it', async () => {
    const { app, session, callId } = await waiting();
    session.addToolInput(callId, { colour: 'mauve' });
    await expect(app.resume(session)).rejects.toMatchObject({ code: 'input_mismatch' });
    expect(session.pendingYieldingCalls).toMatchObject([{ callId, accepted: false }]);
    expect((await app.resume(session)).status).toBe('yielded');
  });

  test('a result that does not fit', async () => {
    const { app, session, store, callId } = await waiting(begin);
    expect(
      await refusalOf(session, store, () => session.addToolResult(callId, { uri: 'x' })),
    ).toMatchObject({ code: 'input_mismatch' });
    session.addToolResult(callId, { url: 'x' });
    expect((await app.resume(session)).status).toBe('completed');
  });

  test('what is not JSON', async () => {
    const { session, store, callId } = await waiting();
    const give = (): void => session.addToolInput(callId, { at: new Date() } as never);
    expect(await refusalOf(session, store, give)).toMatchObject({ code: 'not_json' });
  });

  test('twice, before and after it was taken in', async () => {
    const { app, session, store, callId } = await waiting();
    session.addToolInput(callId, { colour: 'red' });
    await session.flush();
    expect(
      await refusalOf(session, store, () => session.addToolInput(callId, { colour: 'blue' })),
    ).toMatchObject({ code: 'request_settled' });
    await app.resume(session);
    expect(
      await refusalOf(session, store, () => session.addToolInput(callId, { colour: 'blue' })),
    ).toMatchObject({ code: 'request_settled' });
  });

  test('of two processes: the second is told', async () => {
    const store = keptOpen(memoryStore());
    const { session, callId } = await waiting(ask, store);
    const other = runtime({ app: 'input', store, runnables: [caller(ask, {})], recover: 'manual' });
    const elsewhere = (await other.sessions.open({ id: session.id })) as Session;
    elsewhere.addToolInput(callId, { colour: 'red' });
    await elsewhere.flush();
    expect(
      await refusalOf(session, store, () => session.addToolInput(callId, { colour: 'blue' })),
    ).toMatchObject({ code: 'request_settled' });
  });

  test('for a run that was cancelled', async () => {
    const { app, session, store, callId } = await waiting();
    await app.cancel(session);
    await app.resume(session).then(undefined, () => undefined);
    expect(
      await refusalOf(session, store, () => session.addToolInput(callId, { colour: 'red' })),
    ).toMatchObject({ code: 'request_settled' });
  });

  test('for a session that does not exist', async () => {
    const { app } = await waiting();
    await expect(app.resume('nowhere')).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(app.advance('nowhere')).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(app.sessions.get('nowhere')).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(app.cancel('nowhere')).rejects.toMatchObject({ code: 'session_not_found' });
  });
});

test('input for a question that is not stored yet, and for one of a copy', async () => {
  const runnable = caller(ask, {});
  const app = runtime({ app: 'input' });
  const session = (await app.sessions.open()) as Session;
  const forget = session.ledger.onDraft((event) => {
    if (event.type !== 'tool_yield') return;
    forget();
    // Not within the append that asks.
    queueMicrotask(() => session.addToolInput(event.callId, { colour: 'red' }));
  });
  const first = await app.run(runnable, { session, input: 'Go' });
  const last = first.status === 'yielded' ? await app.resume(session) : first;
  expect(last).toMatchObject({ status: 'completed' });

  const { session: waitingSession, callId } = await waiting();
  const copy = waitingSession.clone();
  copy.addToolInput(callId, { colour: 'blue' });
  await copy.flush();
  expect(copy.pendingYieldingCalls).toMatchObject([{ accepted: true }]);
  expect(waitingSession.pendingYieldingCalls).toMatchObject([{ accepted: false }]);
});
