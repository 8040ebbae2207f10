import { describe, expect, test } from 'vitest';
import { session } from '../in-memory-app.ts';
import type { EventDraft } from '../ledger/event.ts';

/** Message of `append` for drafts that no type would allow. */
async function refusal(...drafts: readonly unknown[]): Promise<unknown> {
  const empty = await session('shop');
  try {
    empty.append(drafts as readonly EventDraft[]);
  } catch (error) {
    expect(empty.events).toEqual([]);
    return error;
  }
  throw new Error('Nothing was refused.');
}

describe('session.append', () => {
  test.each([
    [
      { type: 'model_start', by: 'runtime' },
      '`invocationId` is missing in an event of type "model_start"',
    ],
    [{ type: 'user', by: 'user' }, '`text` is missing'],
    [{ type: 'user', by: 'user', text: 7 }, '`text` must be a string, not the number 7'],
    [{ type: 'user', by: 'user', text: 'a', invocationId: 7 }, '`invocationId` must be a string'],
    [{ type: 'users', by: 'user', text: 'a' }, '"users" is not an event type'],
    [{ by: 'user', text: 'a' }, '`type` must be an event type, not undefined'],
    [{ type: 'user', text: 'a' }, '`by` is missing'],
    [null, 'it is not an object'],
    ['text', 'it is not an object'],
    [
      { type: 'state_change', by: 'user', scope: 'session', source: 'mutation', changes: [null] },
      '`changes[0]` must be an object, not null',
    ],
    [
      {
        type: 'state_change',
        by: 'user',
        scope: 'session',
        source: 'mutation',
        changes: [{ key: 'a' }, {}],
      },
      '`changes[1].key` is missing',
    ],
    [
      { type: 'state_change', by: 'user', scope: 'session', source: 'guess', changes: [] },
      'one of mutation, observation, not "guess"',
    ],
    [
      {
        type: 'model_end',
        by: 'runtime',
        invocationId: 'r',
        round: 1,
        attempt: 1,
        status: 'completed',
        usage: {},
        durationMs: 1,
      },
      '`usage.inputTokens` is missing',
    ],
    [
      {
        type: 'tool_result',
        by: 'tool',
        callId: 'c',
        name: 't',
        attempt: 1,
        result: 'done',
        settled: true,
        durationMs: 1,
      },
      '`result` must be an object, not "done"',
    ],
    [{ type: 'error', by: 'runtime', error: 'oh', phase: 'x' }, '`error` must be an object'],
    [{ type: 'compaction', by: 'runtime', covers: 'all' }, '`covers` must be a list, not "all"'],
  ])('refuses %j and says what came', async (draft, message) => {
    expect(await refusal(draft)).toMatchObject({
      code: 'invalid_event',
      data: { index: 0 },
      message: expect.stringContaining(message),
    });
  });

  test('appends nothing when the second of two is wrong', async () => {
    expect(
      await refusal({ type: 'user', by: 'user', text: 'a' }, { type: 'user', by: 'user' }),
    ).toMatchObject({ data: { index: 1 } });
  });

  test.each([
    ['a Date', { when: new Date(0) }, '$.data.when'],
    ['a function', { f: () => 1 }, '$.data.f'],
    ['NaN', { list: [1, Number.NaN] }, '$.data.list[1]'],
  ])('refuses %s and names the path', async (_, data, where) => {
    const draft = {
      type: 'decision',
      by: 'operator',
      component: 'c',
      decision: 'd',
      reasoning: 'r',
      data,
    };
    expect(await refusal(draft)).toMatchObject({ code: 'not_json', data: { path: where } });
  });

  test('gives events of another session a place of their own', async () => {
    const other = await session('shop');
    other.addMessage('first');
    const foreign = other.addMessage('second');
    const own = await session('shop');
    const [event] = own.append([foreign]);
    expect(event).toMatchObject({ type: 'user', text: 'second', seq: 1 });
    expect(event?.id).not.toBe(foreign.id);
    own.addMessage('third');
    await own.flush();
    expect(own.events.map(({ seq }) => seq)).toEqual([1, 2]);
  });
});
