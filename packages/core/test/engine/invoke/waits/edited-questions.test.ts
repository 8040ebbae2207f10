import { memoryStore, runtime, type StepContext } from 'adjutant';
import { takingOver } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { asking } from './asking-step.ts';

describe('edited code', () => {
  /** Begins with one step, and continues the run with another in a second process. */
  async function edited(
    first: (ctx: StepContext) => Promise<unknown>,
    second: (ctx: StepContext) => Promise<unknown>,
  ) {
    const store = memoryStore();
    const before = runtime({ app: 'news', store, runnables: [asking(first)], recover: 'manual' });
    const { session } = await before.run(asking(first), { session: 's' });
    const after = runtime({
      app: 'news',
      store: takingOver(store),
      runnables: [asking(second)],
      recover: 'manual',
    });
    return { app: after, result: await after.resume(session.id) };
  }

  test('that words a question in another way asks it anew', async () => {
    const { app, result } = await edited(
      (ctx) => ctx.ask('name', 'Which name?'),
      (ctx) => ctx.ask('name', 'Which first name?'),
    );
    expect(result.pendingCalls).toMatchObject([{ request: { summary: 'Which first name?' } }]);
    const rows = await app.requests.list({ session: 's' });
    expect(rows.map(({ status, summary }) => [summary, status]).sort()).toEqual([
      ['Which first name?', 'pending'],
      ['Which name?', 'withdrawn'],
    ]);
    await app.requests.answer(result.pendingCalls[0]?.requestId ?? '', { input: 'Ann' });
    expect((await app.resume('s')).output).toBe('Ann');
  });

  test('that does not ask any more goes on without it', async () => {
    const { app, result } = await edited(
      (ctx) => ctx.ask('name', 'Which name?'),
      async () => 'no name',
    );
    expect(result).toMatchObject({ status: 'completed', output: 'no name' });
    expect(await app.requests.list({ session: 's' })).toMatchObject([{ status: 'withdrawn' }]);
  });

  test('that asks for approval instead of a value is refused the recorded answer', async () => {
    const { result } = await edited(
      (ctx) => ctx.ask('name', 'Which name?'),
      (ctx) => ctx.ask('name', { message: 'Which name?', approval: true }),
    );
    expect(result.pendingCalls).toMatchObject([{ kind: 'approval' }]);
  });
});
