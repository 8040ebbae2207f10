import { agent, type Event, runtime, tool } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { scriptedModel } from 'adjutant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { RequestDraft } from '../../../src/ledger/port.ts';
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.ts';
import { newPool, newSchema, reasonToSkip, serverUrl } from './server.ts';
import { notes } from './writer.ts';

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
  return {
    runnable: agent({
      name: 'spender',
      model: scriptedModel(responses),
      tools: [spend('pay'), spend('refund')],
    }),
    spent,
  };
}

describe.skipIf(reasonToSkip !== undefined)(
  'a connection that is lost when the server has committed',
  () => {
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

    /** Runs the agent and cuts the connection at one of its appends, and at its repetitions. */
    async function runWithCut(
      number: number,
      times: number,
    ): Promise<{
      events: readonly Event[];
      spent: readonly string[];
      epoch: number | undefined;
      cuts: number;
    }> {
      const { runnable, spent } = spender();
      const store = postgres({ pool, schema: schema.name });
      const app = runtime({ app: 'shop', store, runnables: [runnable] });
      const id = `cut at ${number} ${times} times`;
      proxy.arm('"op":"append"', number, times);
      const { session, output } = await app.run(runnable, { session: id, input: 'go' });
      expect(output, id).toBe('done');
      const { events } = session;
      const head = await store.for({ tenant: 'default', app: 'shop' }).head(id);
      const stored: Event[] = [];
      for await (const page of store.for({ tenant: 'default', app: 'shop' }).read(id))
        stored.push(...page);
      expect(stored, id).toEqual(events);
      await app.close();
      return { events, spent, epoch: head?.epoch, cuts: proxy.cuts() };
    }

    // Once is for the store to bear, three times are for the writer of the ledger.
    test.each([1, 3])(
      '(%i times) stops no run: its owner goes on, and nothing is missing, there twice or unknown',
      async (times) => {
        let number = 1;
        for (; ; number++) {
          const { events, spent, epoch, cuts } = await runWithCut(number, times);
          expect(epoch).toBe(1);
          expect(spent).toEqual(['pay 1', 'pay 2', 'refund 3']);
          expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
          expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
          expect(
            events.flatMap((event) => (event.type === 'tool_result' ? [event.result.status] : [])),
          ).toEqual(['success', 'success', 'success']);
          if (cuts === 0) break;
        }
        // All appends of the run have had their turn.
        expect(number).toBe(proxy.seen() + 1);
        expect(number).toBeGreaterThan(3);
      },
    );

    test.each(['claim', 'renew', 'release', 'post', 'settle'])(
      'is made good when it was a %s',
      async (operation) => {
        const store = postgres({ pool, schema: schema.name });
        const ledgers = store.for({ tenant: 'default', app: 'other' });
        const session = `lost ${operation}`;
        proxy.arm(`"op":"${operation}"`, 1);
        const claim = await ledgers.claim(session, 'me', { ttlMs: 30_000 });
        await ledgers.append(session, claim, {
          events: notes(0, ['a']),
          requests: [request(session)],
        });
        expect(await ledgers.renew(claim)).toMatchObject({ seq: 1 });
        const item = {
          key: 'k',
          lane: 'input',
          by: 'user',
          at: 1,
          type: 'wake',
          data: {},
        } as const;
        expect(await ledgers.post(session, item)).toMatchObject({ inboxSeq: 1 });
        await ledgers.settle(session, { requestId: session, status: 'cancelled', by: 'runtime' });
        expect(await ledgers.requests({ session })).toMatchObject([{ status: 'cancelled' }]);
        expect(await ledgers.release(claim)).toMatchObject({ released: true, inboxSeq: 1 });
        expect(await ledgers.claim(session, 'another', { ttlMs: 30_000 })).toMatchObject({
          epoch: claim.epoch + 1,
        });
        expect(proxy.cuts()).toBe(1);
        await store.close();
      },
    );

    test('is told when it was a fork or a deletion, which cannot be asked for twice', async () => {
      const store = postgres({ pool, schema: schema.name });
      const ledgers = store.for({ tenant: 'default', app: 'other' });
      await ledgers.claim('forked', 'me', { ttlMs: 30_000 });
      proxy.arm('the fork', 1);
      await expect(ledgers.fork('forked', 0, 'the fork')).rejects.toMatchObject({
        code: 'store_unavailable',
        data: { undetermined: true },
      });
      expect(await ledgers.head('the fork')).toBeDefined();
      proxy.arm('the fork', 1);
      await expect(ledgers.delete('the fork')).rejects.toMatchObject({
        code: 'store_unavailable',
        data: { undetermined: true },
      });
      expect(await ledgers.head('the fork')).toBeUndefined();
      await store.close();
    });
  },
);

function request(session: string): RequestDraft {
  return {
    ...{
      requestId: session,
      session,
      invocationId: 'run',
      callId: 'run/r1.0',
      kind: 'approval',
      name: 'pay',
      fingerprint: 'f',
      generation: 1,
    },
    request: { agent: 'a', summary: 'Pay', options: ['approve', 'reject'] },
    createdAt: 1,
  };
}
