import { agent, type JsonValue, memoryStore, runtime, type Session, step, tool } from 'adjutant';
import { diffLedgers } from 'adjutant/replay';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

interface Changes {
  readonly answer?: string;
  readonly args?: JsonValue;
  readonly result?: string;
  readonly state?: string;
  readonly system?: string;
}

async function recorded({
  answer = 'Paris.',
  args = { city: 'Paris' },
  result = 'sunny',
  state = 'x',
}: Changes = {}): Promise<Session> {
  const weather = tool({
    name: 'weather',
    description: 'Weather',
    schema: z.object({ city: z.string() }),
    readOnly: true,
    execute: () => result,
  });
  const guide = agent({
    name: 'guide',
    model: scriptedModel((prompt) =>
      prompt.some(({ role }) => role === 'tool')
        ? { text: answer }
        : { toolCalls: [{ name: 'weather', args }] },
    ),
    tools: [weather],
  });
  const trip = step({
    name: 'trip',
    execute: async (ctx) => {
      ctx.state['plan'] = state;
      return ctx.complete((await ctx.call(guide, { message: 'Where?' })).output as string);
    },
  });
  const app = runtime({ app: 'diff', store: memoryStore() });
  return (await app.run(trip, 'Plan a trip')).session;
}

describe('diffLedgers', () => {
  test('two runs of the same say the same, whatever they are called', async () => {
    expect(diffLedgers(await recorded(), await recorded())).toBeUndefined();
  });

  test.each<[string, Changes, object]>([
    [
      'another answer',
      { answer: 'Rome.' },
      {
        kind: 'outcome',
        subject: 'An answer of guide differs',
        differences: [{ path: 'text', recorded: 'Paris.', replayed: 'Rome.' }],
      },
    ],
    [
      'other arguments',
      { args: { city: 'Rome' } },
      {
        kind: 'arguments',
        differences: [{ path: 'args.city', recorded: 'Paris', replayed: 'Rome' }],
      },
    ],
    [
      'another result',
      { result: 'rain' },
      {
        kind: 'outcome',
        differences: [{ path: 'result.content', recorded: 'sunny', replayed: 'rain' }],
      },
    ],
    [
      'another write',
      { state: 'y' },
      {
        kind: 'state',
        differences: [{ path: 'changes[0].newValue', recorded: 'x', replayed: 'y' }],
      },
    ],
  ])('%s is the first difference, not what follows from it', async (_name, changes, expected) => {
    const first = await recorded();
    const found = diffLedgers(first, await recorded(changes));
    expect(found).toMatchObject(expected);
    expect(found?.otherSeq).toBe(found?.seq);
  });

  test('a ledger that is a part of another differs where it ends', async () => {
    const whole = await recorded();
    const { events } = whole;
    const part = {
      app: 'diff',
      tenant: 'default',
      session: 's',
      events: events.slice(0, 5),
      blobs: {},
    };
    const found = diffLedgers(whole, part);
    expect(found?.seq).toBe(6);
    expect(found?.subject).toMatch(/missing in the other/);
    expect(diffLedgers(part, whole)).toMatchObject({
      otherSeq: 6,
      subject: expect.stringMatching(/only in the other/) as string,
    });
  });

  test('an empty ledger and an empty one', () => {
    const empty = { app: 'diff', tenant: 'default', session: 's', events: [], blobs: {} };
    expect(diffLedgers(empty, empty)).toBeUndefined();
  });
});
