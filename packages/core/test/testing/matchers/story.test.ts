import 'adjutant/testing/vitest';
import { agent, type Event, loop, parallel, run, runtime, sequence, step, tool } from 'adjutant';
import { ledgerStory, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askForTrip, misuseOf } from './conversation.ts';

describe('ledgerStory', () => {
  test(
    'tells what happened, a line for each event, and nothing that is different ' + 'every time',
    async () => {
      const [first, second] = [await askForTrip(), await askForTrip()];
      expect(ledgerStory(first.session)).toMatchInlineSnapshot(`
      "user: I want to go to Rome
      agent travel starts
        travel: Let me see.
        travel calls getWeather({ city: 'Rome', days: 3 })
          getWeather gives { sky: 'clear', degrees: 21 }
        session state: lastCity = 'Rome', trip = { city: 'Rome', days: 3 }
        travel calls bookTrain({ to: 'Rome' })
          bookTrain gives 'Booked to Rome'
        travel calls bookPlane()
          error_router decides hint
          bookPlane fails (unknown_tool): There is no tool named "bookPlane". Available tools: getWeather, bookTrain. [noted: There is no such tool. Use only tools of the list that you were given.]
        travel: It is clear in Rome, and your train is booked.
        travel ends"
    `);
      expect(ledgerStory(second)).toBe(ledgerStory(first.session.events));
      expect(ledgerStory(second.session.toJSON(), { all: true })).toBe(
        ledgerStory(first, { all: true }),
      );
    },
  );

  test('has all events on request, and the order in which they were recorded', async () => {
    const trip = await askForTrip();
    const all = ledgerStory(trip, { all: true, order: 'ledger' }).split('\n');
    // Each of the attempts, model calls and answers that the others imply.
    expect(all).toHaveLength(trip.session.events.length);
    expect(all.slice(0, 6)).toMatchInlineSnapshot(`
      [
        "user: I want to go to Rome",
        "agent travel starts",
        "travel asks scripted:scripted (round 1)",
        "travel: Let me see.",
        "travel calls getWeather({ city: 'Rome', days: 3 })",
        "the model of travel answers",
      ]
    `);
  });

  test('branches that run at the same time give the same story whichever is faster', async () => {
    const race = (first: 'left' | 'right') => {
      const gate = Promise.withResolvers<void>();
      const runner = (name: 'left' | 'right') =>
        step({
          name,
          execute: async (ctx) => {
            if (name !== first) await gate.promise;
            await ctx.call(
              agent({ name: `${name}_speaker`, model: scriptedModel([{ text: `I am ${name}` }]) }),
              { message: 'Go' },
            );
            if (name === first) gate.resolve();
          },
        });
      return run(parallel({ name: 'race', runnables: [runner('left'), runner('right')] }), 'Go');
    };
    const [one, other] = [await race('left'), await race('right')];
    expect(ledgerStory(one)).toBe(ledgerStory(other));
    expect(ledgerStory(one, { order: 'ledger' })).not.toBe(ledgerStory(other, { order: 'ledger' }));
  });

  test('nests what a call ran below the call, and numbers iterations', async () => {
    const lawyer = agent({ name: 'lawyer', model: scriptedModel([{ text: 'It is valid.' }]) });
    const consult = tool({
      name: 'consult',
      description: 'Asks a lawyer',
      schema: z.object({}),
      execute: async (ctx) => ({
        answer: (await ctx.call(lawyer, { message: 'Is it valid?' })).output ?? null,
        key: ctx.idempotencyKey,
      }),
    });
    const clerk = agent({
      name: 'clerk',
      model: scriptedModel([
        { thoughts: 'Hm', toolCalls: [{ name: 'consult' }] },
        { text: 'Yes.' },
      ]),
      tools: [consult],
    });
    const count = step({
      name: 'count',
      execute: (ctx) => {
        ctx.state['count'] = Number(ctx.state['count'] ?? 0) + 1;
      },
    });
    const result = await run(
      sequence({
        name: 'office',
        runnables: [clerk, loop({ name: 'twice', runnable: count, maxIterations: 2 })],
      }),
      'Well?',
    );
    expect(ledgerStory(result)).toMatchInlineSnapshot(`
      "user: Well?
      sequence office starts
        agent clerk starts
          clerk thinks: Hm
          clerk calls consult()
            agent lawyer starts (call) with 'Is it valid?'
              lawyer: It is valid.
              lawyer ends
            consult gives { answer: 'It is valid.', key: 'key' }
          clerk: Yes.
          clerk ends
        loop twice starts
          step count#1 starts
            session state: count = 1
            count#1 ends
          step count#2 starts
            session state: count = 2
            count#2 ends
          twice ends
        office ends"
    `);
  });

  test('tells approvals, failures, retries and what is left open', async () => {
    let tries = 0;
    const fetchPage = tool({
      name: 'fetchPage',
      description: 'Fetches',
      schema: z.object({}),
      readOnly: true,
      execute: () => {
        tries++;
        if (tries === 1)
          throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        return { title: "Bob's page" };
      },
    });
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({ cents: z.int() }),
      approval: { allowEdit: true },
      execute: (ctx) => ctx.args.cents,
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'fetchPage' }, { name: 'pay', args: { cents: 900 } }] },
      { text: 'Paid.' },
    ]);
    const payer = agent({ name: 'payer', model, tools: [fetchPage, pay] });
    const app = runtime({ app: 'shop', runnables: [payer] });
    const waiting = await app.run(payer, 'Pay');
    expect(ledgerStory(waiting).split('\n').slice(-3)).toMatchInlineSnapshot(`
      [
        "  payer calls pay({ cents: 900 })",
        "    pay waits for approval",
        "  payer waits for an answer",
      ]
    `);
    await app.requests.answer(waiting.pendingApprovals[0]?.requestId ?? '', {
      decision: 'edit',
      input: { cents: 300 },
      by: 'user:ann',
      reason: 'cheaper',
    });
    expect(ledgerStory(await app.run(payer, { session: waiting.session }))).toMatchInlineSnapshot(`
      "user: Pay
      agent payer starts
        payer calls fetchPage()
          error_router decides backoff
          fetchPage fails for now (connection_refused): connect ECONNREFUSED, to be tried again
          fetchPage is run again (attempt 2)
          fetchPage gives { title: "Bob's page" }
        payer calls pay({ cents: 900 })
          pay waits for approval
          pay is approved and edited to ({ cents: 300 }) by ann: cheaper
          pay({ cents: 300 }) gives 300
        payer waits for an answer
        payer goes on
        payer: Paid.
        payer ends"
    `);
  });

  test('long values are cut, and still differ where they are cut', () => {
    const said = (text: string): Event[] => [
      { v: 1, seq: 1, id: 'e', at: 0, by: 'user', type: 'user', text },
    ];
    const long = 'a'.repeat(500);
    expect(ledgerStory(said(`${long}b`))).not.toBe(ledgerStory(said(`${long}c`)));
    expect(ledgerStory(said(`${long}b`), { longest: 5 })).toMatch(
      /^user: aaaaa… \(501 characters, [0-9a-f]{6}\)$/,
    );
    // Not half a character.
    expect(ledgerStory(said('😀😀'), { longest: 3 })).toMatch(/^user: 😀… /);
  });

  test('nothing in a text acts on a terminal or makes two lines of one', () => {
    const events: Event[] = [
      {
        v: 1,
        seq: 1,
        id: 'e',
        at: 0,
        by: 'user',
        type: 'user',
        text: 'one\ntwo\u001b[31mred\u202e',
      },
    ];
    expect(ledgerStory(events)).toBe('user: one⏎two␛[31mred�');
  });

  test('a value that is not there is told by its size', async () => {
    const { session } = await run(
      agent({ name: 'a', model: scriptedModel([{ text: 'z'.repeat(90_000) }]) }),
      'hi',
    );
    expect(ledgerStory(session.events)).toMatch(/a: large value, 90002 bytes, [0-9a-f]{6}/);
  });

  test('refuses options that do not exist', () => {
    expect(misuseOf(() => ledgerStory([], { al: true } as never))).toMatchInlineSnapshot(
      '"invalid_option: ledgerStory() cannot be set up: there is no option `al` (did you ' +
        'mean `all`?)."',
    );
    expect(misuseOf(() => ledgerStory([], { longest: 0 }))).toMatchInlineSnapshot(
      '"invalid_option: ledgerStory() cannot be set up: `longest` must be a whole number ' +
        'from 1, not 0."',
    );
    expect(misuseOf(() => ledgerStory('session' as never))).toMatchInlineSnapshot(
      '"invalid_matcher_use: ledgerStory() cannot be used like this: it needs a session, ' +
        '`session.events`, the result of a run or of `runTest`, or a recorded ledger, ' +
        'not "session"."',
    );
  });

  test('a deeply nested ledger does not exhaust the stack', () => {
    const depth = 3_000;
    let path = 'run';
    const events = Array.from({ length: depth }, (_, index): Event => {
      if (index > 0) path += '/a';
      return {
        v: 1,
        seq: index + 1,
        id: `e${index}`,
        at: 0,
        by: 'runtime',
        type: 'invocation_start',
        invocationId: path,
        kind: 'step',
        name: 'a',
        mode: 'child',
      };
    });
    expect(ledgerStory(events).split('\n')).toHaveLength(depth);
  });
});
