import { agent, type Event, runtime, tool } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { scriptedModel } from 'adjutant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.ts';
import { newPool, newSchema, reasonToSkip, serverUrl } from './server.ts';

/** An agent that uses two tools that may not be run twice, and what they did. */
function spender(): { readonly runnable: ReturnType<typeof agent>; readonly spent: string[] } {
  const spent: string[] = [];
  const spend = (name: string) =>
    tool({
      name,
      description: 'Spends',
      schema: z.object({ amount: z.number() }),
      execute: async ({ args }) => {
        spent.push(`${name} ${args.amount}`);
        return args;
      },
    });
  const responses = [
    { toolCalls: [{ name: 'pay', args: { amount: 1 } }] },
    {
      toolCalls: [
        { name: 'pay', args: { amount: 2 } },
        { name: 'refund', args: { amount: 3 } },
      ],
    },
    { text: 'done' },
  ];
  return { runnable: agent({ name: 'spender', model: scriptedModel(responses), tools: [spend('pay'), spend('refund')] }), spent };
}

describe.skipIf(reasonToSkip !== undefined)('a connection that is lost when the server has committed', () => {
  const schema = newSchema();
  let proxy: CuttingProxy;
  let pool: ReturnType<typeof newPool>;

  beforeAll(async () => {
    proxy = await cuttingProxy(serverUrl);
    pool = newPool(proxy.url);
    pool.on('error', () => undefined);
  });

  afterAll(async () => {
    await pool.end();
    await proxy.close();
    await schema.drop();
  });

  /** Runs the agent and cuts the connection at one of its appends. */
  async function runWithCut(
    number: number,
  ): Promise<{ events: readonly Event[]; spent: readonly string[]; epoch: number | undefined; cuts: number }> {
    const { runnable, spent } = spender();
    const store = postgres({ pool, schema: schema.name });
    const app = runtime({ app: 'shop', store, runnables: [runnable] });
    const id = `cut at ${number}`;
    proxy.arm('"op":"append"', number);
    const { session, output } = await app.run(runnable, { session: id, input: 'go' });
    expect(output, id).toBe('done');
    const { events } = session;
    const head = await store.for({ tenant: 'default', app: 'shop' }).head(id);
    const stored: Event[] = [];
    for await (const page of store.for({ tenant: 'default', app: 'shop' }).read(id)) stored.push(...page);
    expect(stored, id).toEqual(events);
    await app.close();
    return { events, spent, epoch: head?.epoch, cuts: proxy.cuts() };
  }

  test('stops no run: its owner goes on, and nothing is missing, there twice or unknown', async () => {
    let number = 1;
    for (; ; number++) {
      const { events, spent, epoch, cuts } = await runWithCut(number);
      expect(epoch).toBe(1);
      expect(spent).toEqual(['pay 1', 'pay 2', 'refund 3']);
      expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
      expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
      expect(events.flatMap((event) => (event.type === 'tool_result' ? [event.result.status] : []))).toEqual(['success', 'success', 'success']);
      if (cuts === 0) break;
    }
    // All appends of the run have had their turn.
    expect(number).toBe(proxy.seen() + 1);
    expect(number).toBeGreaterThan(3);
  });
});
