import { type Agent, agent, memoryStore, type Runtime, runtime, type Store, tool } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { crashPoints, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { effectsInSteps } from '../../engine/app/recovery/effect-scenarios.ts';
import * as scenarios from '../../engine/app/recovery/scenarios.ts';
import { firstKey, places, withPlace } from './places.ts';

const said = 'marker-said-by-the-user';
const argument = 'marker-argument-of-the-tool';
const given = 'marker-given-by-the-tool';
const answered = 'marker-answer-of-the-model';
const why = 'marker-reason-of-the-approver';
const large = `marker-large ${'0123456789'.repeat(10_000)}`;

const stateSchema = { session: {}, user: { last: z.string() } };

function payer(effects: string[]): Agent {
  const pay = tool({
    name: 'pay',
    description: 'Pays an order',
    schema: z.object({ order: z.string() }),
    stateSchema,
    approval: true,
    execute: (ctx) => {
      effects.push(ctx.args.order);
      ctx.state.user.last = given;
      return { receipt: given, log: large };
    },
  });
  const model = scriptedModel((prompt) =>
    prompt.some(({ role }) => role === 'tool')
      ? { text: answered }
      : { text: 'I pay.', toolCalls: [{ name: 'pay', args: { order: argument } }] },
  );
  return agent({ name: 'payer', model, tools: [pay] });
}

function processOn(store: Store, effects: string[]): { app: Runtime; runnable: Agent } {
  const runnable = payer(effects);
  return {
    app: runtime({ app: 'shop', tenant: 'acme', store, runnables: [runnable], recover: 'manual' }),
    runnable,
  };
}

describe.each(places)('a run on an encrypted %s', (_, make) => {
  test(
    'waits for an approval, is answered and carried on by other processes, and leaves ' +
      'nothing readable',
    { timeout: 60_000 },
    () =>
      withPlace(make, async (place) => {
        const effects: string[] = [];
        const first = processOn(place.open(), effects);
        const opened = await first.app.sessions.open({ id: 's', userId: '42', stateSchema });
        const waiting = await first.app.run(first.runnable, { session: opened, input: said });
        expect(waiting.status).toBe('yielded');
        await first.app.close();

        const second = processOn(place.open(), effects);
        const [pending] = await second.app.requests.listPendingApprovals({ user: '42' });
        expect(JSON.stringify(pending?.details)).toContain(argument);
        expect((await second.app.sessions.list()).sessions.map(({ title }) => title)).toEqual([
          said,
        ]);
        await second.app.requests.approve(pending?.requestId ?? '', { by: 'user:7', reason: why });
        await second.app.close();

        const third = processOn(place.open(), effects);
        await third.app.advance('s');
        const session = await third.app.sessions.open({ id: 's', userId: '42', stateSchema });
        expect(session.status).toBe('completed');
        expect(session.state.user).toMatchObject({ last: given });
        expect(effects).toEqual([argument]);
        const result = session.events.find((event) => event.type === 'tool_result');
        expect(result).toMatchObject({
          result: { content: { receipt: given, log: { $blob: expect.any(String) } } },
        });
        const fork = await third.app.sessions.fork('s', { at: 3 });
        expect((await third.app.sessions.stateAt(fork.id)).seq).toBeGreaterThanOrEqual(3);

        const contents = await place.contents();
        for (const marker of [said, argument, given, answered, why, 'marker-large'])
          expect(contents.includes(marker), marker).toBe(false);
        await third.app.sessions.erase('s');
        expect((await third.app.sessions.list()).sessions).toEqual([]);
        await third.app.close();
      }),
  );
});

describe('a process that stops at any append of a run on an encrypted store', () => {
  test.each([
    ['tools at the same time', scenarios.parallelTools],
    ['agents in sequences and branches', scenarios.nested],
    ['agents as tools', scenarios.agentAsTool],
    ['effects of a step', effectsInSteps],
  ])('%s: leaves what the next one carries on', { timeout: 120_000 }, async (_, scenario) => {
    const keys = localKeys({ keys: [firstKey] });
    const { points } = await crashPoints(scenario, {
      store: () => encrypted(memoryStore(), { keys }),
    });
    expect(points).toBeGreaterThan(5);
  });
});
