import { describe, expect, test } from 'vitest';
import { step } from '../../../src/index.ts';
import type { SimulatedApp } from '../../../src/testing/simulation/machine-room.ts';
import { type SimulateOptions, simulate } from '../../../src/testing/simulation/simulate.ts';
import type { SimulatedProgram } from '../../../src/testing/simulation/simulated-program.ts';

const calm = { hours: 2, hoursPerSeed: 1, seed: 2, faults: {} };

/** An app that charges a card: the first attempt loses its connection. */
function chargingApp(): SimulatedApp {
  const order = step({
    name: 'order',
    execute: async (ctx) => {
      const charge = ({ attempt }: { readonly attempt: number }): string => {
        if (attempt === 1) throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
        return `charged by attempt ${attempt}`;
      };
      return ctx.complete(await ctx.effect('charge', charge));
    },
  });
  return { app: 'shop', runnables: [order] };
}

/** An app that asks how many guests come. */
function tableApp(): SimulatedApp {
  const table = step({
    name: 'table',
    execute: async (ctx) => {
      const schema = { type: 'number' };
      return ctx.complete(await ctx.ask('guests', { message: 'How many guests?', schema }));
    },
  });
  return { app: 'tables', runnables: [table] };
}

/** Simulates one program, and returns its ends with the failures. */
async function endsOf(
  makeApp: () => SimulatedApp,
  program: SimulatedProgram,
  options: Partial<SimulateOptions> = calm,
) {
  const ends: unknown[] = [];
  const { failures } = await simulate(makeApp, {
    ...options,
    programs: [program],
    atEnd: ({ ends: [end] }) => void ends.push(end?.output ?? end?.status),
  });
  return { ends: new Set(ends), failures };
}

describe('people who repair a run', () => {
  const order = { run: 'order' };

  test.each([
    ['it happened', { happened: true, result: 'ch_1' }, 'ch_1'],
    ['it did not', { happened: false }, 'charged by attempt 2'],
    ['it failed', { happened: false, failed: 'It was declined.' }, 'error'],
  ])('tell what became of the effect, and the run goes on from it: %s', async (_, found, end) => {
    const { ends, failures } = await endsOf(chargingApp, { ...order, repair: () => found });
    expect(ends).toEqual(new Set([end]));
    expect(failures.filter(({ broken }) => broken[0]?.rule !== 'ends_compared')).toEqual([]);
  });

  test('get the id, the key and the attempt of the effect', async () => {
    const effects: unknown[] = [];
    await endsOf(chargingApp, {
      ...order,
      repair: (effect) => {
        effects.push(effect);
        return { happened: true };
      },
    });
    expect(effects[0]).toEqual({ callId: 'run0/charge', key: 'charge', attempt: 1 });
  });

  test('do so under faults, too', async () => {
    const { failures } = await endsOf(
      chargingApp,
      { ...order, repair: () => ({ happened: false }) },
      { hours: 4, hoursPerSeed: 1, faults: { stop: 0.05, doubleAnswer: 0.5 } },
    );
    expect(failures).toEqual([]);
  });

  test('leave the run as it is when they do not know', async () => {
    const { ends } = await endsOf(chargingApp, { ...order, repair: () => undefined });
    expect(ends).toEqual(new Set(['error']));
  });

  test.each<[string, unknown, string]>([
    ['a promise', async () => ({ happened: true }), 'invalid_run'],
    ['an unknown option', () => ({ happened: true, frob: 1 }), 'invalid_run'],
    ['a result that is no JSON', () => ({ happened: true, result: () => 1 }), 'not_json'],
    ['a text', () => 'it happened', 'invalid_run'],
  ])('must tell what an app takes: %s', async (_, repair, code) => {
    const given = { ...order, repair } as SimulatedProgram;
    const { failures } = await endsOf(chargingApp, given);
    expect(failures[0]?.broken[0]).toMatchObject({ rule: 'answer_taken' });
    expect(failures[0]?.broken[0]?.detail).toContain('`repair` of `programs[0]`');
    expect(failures[0]?.broken[0]?.detail).toContain(code);
  });

  test('must not throw', async () => {
    const boom = new Error('boom');
    const throws = (): never => {
      throw boom;
    };
    const { failures } = await endsOf(chargingApp, { ...order, repair: throws });
    expect(failures[0]?.broken[0]).toMatchObject({ rule: 'answer_taken', cause: boom });
  });
});

describe('people who answer by a message', () => {
  const table = { run: 'table' };

  test('give the input that the run waits for', async () => {
    const { ends, failures } = await endsOf(tableApp, {
      ...table,
      answer: () => ({ message: ' 7 ' }),
    });
    expect(ends).toEqual(new Set([7]));
    expect(failures).toEqual([]);
  });

  test('come again when their message answers nothing, which breaks a rule', async () => {
    const answer: SimulatedProgram['answer'] = (_, times) =>
      times === 1 ? { message: 'a few' } : { input: 8 };
    const { failures } = await endsOf(tableApp, { ...table, answer });
    expect(failures[0]?.broken).toMatchObject([
      { rule: 'answer_taken', detail: expect.stringContaining('is read as no answer') },
    ]);
  });

  test.each([[7], [''], [{}]])('must give a text, not %j', async (message) => {
    const answer = (() => ({ message })) as never;
    const { failures } = await endsOf(tableApp, { ...table, answer });
    expect(failures[0]?.broken[0]?.rule).toBe('answer_taken');
    expect(failures[0]?.broken[0]?.detail).toContain('its `message` must be a text');
  });
});

describe('a run in another lane', () => {
  const beside = { lane: 'side', run: 'table' };
  const calls = { run: 'table', answer: () => ({ by: 'user:ann', input: 4 }), beside };

  test('begins in the session of its program, waits beside it, and ends', async () => {
    const lanes: unknown[] = [];
    const { failures } = await simulate(tableApp, {
      ...calm,
      programs: [calls],
      onSeed: ({ ledgers }) => {
        for (const event of ledgers.flat())
          if (event.invocationId === 'run0-side' && event.type === 'invocation_start')
            lanes.push(event.lane);
          else if (event.invocationId === 'run0-side' && event.type === 'invocation_end')
            lanes.push(event.output);
      },
    });
    expect(failures).toEqual([]);
    expect(lanes).toEqual(['side', 4, 'side', 4]);
  });

  test('reads the messages that people give in the place of answers in its lane', async () => {
    const answers = { ...calls, answer: () => ({ message: '4' }) };
    const { ends, failures } = await endsOf(tableApp, answers);
    expect(failures).toEqual([]);
    expect(ends).toEqual(new Set([4]));
  });

  test('is cancelled by its lane, and the run of its program goes on', async () => {
    const ends = new Set<string>();
    const { failures } = await simulate(tableApp, {
      hours: 20,
      hoursPerSeed: 1,
      seed: 1,
      faults: { cancel: 0.1 },
      programs: [calls],
      onSeed: ({ ledgers }) => {
        const ended = ledgers.flat().filter(({ type }) => type === 'invocation_end');
        const statusOf = (runId: string) =>
          ended.find(({ invocationId }) => invocationId === runId) as
            | { status?: string }
            | undefined;
        ends.add(`${statusOf('run0')?.status}, ${statusOf('run0-side')?.status}`);
      },
    });
    expect(failures).toEqual([]);
    expect(ends).toContain('completed, cancelled');
  });
});
