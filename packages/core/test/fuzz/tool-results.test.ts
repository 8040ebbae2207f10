import { agent, memoryStore, runtime, tool } from 'adjutant';
import { roundModel, scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { hostileValues } from './hostile-values.ts';
import { seed } from './seed.ts';
import { watchProcess } from './unhandled.ts';

/** Ways in which a tool gives a value. */
const ways = ['returns', 'resolves', 'throws', 'rejects', 'reports', 'streams'] as const;

test(
  'whatever a tool gives or throws, its run comes to an end, and the next one is ' + 'carried out',
  async () => {
    const checkProcess = watchProcess();
    const app = runtime({ app: 'shop', store: memoryStore(), recover: 'manual' });
    onTestFinished(() => app.close());
    const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Here.' })) });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ways), hostileValues, async (way, make) => {
        const execute = (ctx: { progress(data: never): void }): unknown => {
          const value = make();
          if (way === 'throws') throw value;
          if (way === 'rejects') return Promise.reject(value);
          if (way === 'reports') ctx.progress(value as never);
          return way === 'resolves' ? (async () => value)() : value;
        };
        const odd = tool({
          name: 'odd',
          description: 'Is odd',
          schema: z.object({}),
          execute: execute as never,
        });
        const user = agent({
          name: `user-${++count}`,
          model: roundModel([{ toolCalls: [{ name: 'odd', args: {} }] }, { text: 'Done.' }]),
          tools: [odd],
        });
        const { status, session } = await app.run(user, { input: 'Go' });
        expect(['completed', 'error', 'yielded']).toContain(status);
        const types: string[] = [];
        for await (const event of app.sessions.events(session.id)) types.push(event.type);
        expect(types).not.toContain('unreadable');
        expect((await app.run(clerk, { input: 'Go' })).output).toBe('Here.');
      }),
      { seed, numRuns: 100 },
    );
    await checkProcess();
  },
);
