import { type Agent, agent, memoryStore, pending, type Runtime, tool } from 'adjutant';
import { keptOpen, roundModel } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payTool } from '../../pay-tool.ts';
import { id, newProcess, work } from './restarted-approvals.ts';

describe('several calls of one round', () => {
  /** Three calls that wait for three different things. */
  function mixed(): { readonly runnable: Agent; readonly paid: readonly unknown[] } {
    const { pay, paid } = payTool();
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: z.object({}),
      yieldSchema: z.object({ colour: z.string() }),
    });
    const begin = tool({
      name: 'begin',
      description: 'Begins',
      schema: z.object({}),
      execute: () => pending({ operationId: 'op' }),
    });
    const model = roundModel([
      {
        toolCalls: [
          { name: 'pay', args: { cents: 5 } },
          { name: 'ask', args: {} },
          { name: 'begin', args: {} },
        ],
      },
      { text: 'Done.' },
    ]);
    return { runnable: agent({ name: 'caller', model, tools: [pay, ask, begin] }), paid };
  }

  const answers: Readonly<Record<string, (app: Runtime, requestId: string) => Promise<void>>> = {
    pay: (app, requestId) => app.requests.approve(requestId),
    ask: (app, requestId) => app.requests.answer(requestId, { input: { colour: 'red' } }),
    begin: (app) => app.requests.settleOperation('op', { url: 'x' }),
  };

  test('are answered in any order, some before and some after a restart', async () => {
    const orders = fc.shuffledSubarray(Object.keys(answers), { minLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        orders,
        fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
        async (order, restarts) => {
          const store = keptOpen(memoryStore());
          const { runnable, paid } = mixed();
          const first = await work(store, runnable);
          expect(first?.pendingCalls.map(({ name }) => name)).toEqual(['pay', 'ask', 'begin']);
          const ids = new Map(first?.pendingCalls.map(({ name, requestId }) => [name, requestId]));
          let last = first;
          for (const [i, name] of order.entries()) {
            await answers[name]?.(newProcess(store, runnable), ids.get(name) ?? '');
            if (restarts[i] !== true) continue;
            last = await work(store, runnable);
            const open = last?.pendingCalls.map((call) => call.requestId);
            expect(open).toEqual(
              [...ids]
                .filter(([other]) => !order.slice(0, i + 1).includes(other))
                .map(([, requestId]) => requestId),
            );
          }
          if (restarts[2] !== true) last = await work(store, runnable);
          expect(last).toMatchObject({ status: 'completed', output: 'Done.', pendingCalls: [] });
          expect(paid).toEqual([{ cents: 5 }]);
          const results = last?.session.events.filter(
            (event) => event.type === 'tool_result' && event.settled,
          );
          expect(results).toHaveLength(3);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('hold nothing while they wait', async () => {
    const store = keptOpen(memoryStore());
    const { runnable } = mixed();
    const app = newProcess(store, runnable);
    const session = await app.sessions.open({ id });
    await app.run(runnable, { session, runId: 'run', input: 'Go' });
    const claim = await store
      .for({ tenant: 'default', app: 'restarts' })
      .claim(id, 'another', { ttlMs: 1_000 });
    expect(claim.owner).toBe('another');
  });
});
