import 'adjutant/testing/vitest';
import { agent, run, runtime, step, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askForTrip, failureOf, misuseOf } from './conversation.ts';

let trip: Awaited<ReturnType<typeof askForTrip>>;
beforeAll(async () => {
  trip = await askForTrip();
});

describe('toHaveState', () => {
  test('compares a value, also with asymmetric matchers, or asks whether there is one', () => {
    expect(trip.session).toHaveState('session', 'lastCity', 'Rome');
    expect(trip.session).toHaveState('session', 'trip', { city: 'Rome', days: expect.any(Number) });
    expect(trip.session).toHaveState('session', 'lastCity');
    expect(trip.session).toHaveState('session', 'unknown', undefined);
    expect(trip.session).not.toHaveState('session', 'unknown');
    expect(trip.session).not.toHaveState('session', 'lastCity', undefined);
    expect(trip.session).not.toHaveState('session', 'trip', { city: 'Rome' });
  });

  test('takes results of runs, lists of events and recorded ledgers', () => {
    for (const source of [trip, trip.session.events, trip.session.toJSON()]) {
      expect(source).toHaveState('session', 'lastCity', 'Rome');
      expect(source).not.toHaveState('session', 'lastCity', 'Paris');
    }
  });

  test('looks into shared scopes, also those that hold nothing', async () => {
    const app = runtime({ app: 'shop' });
    const session = await app.sessions.open({ userId: 'ann' });
    expect(session).not.toHaveState('user', 'theme');
    const remember = step({
      name: 'remember',
      execute: (ctx) => {
        (ctx.state['user'] as Record<string, unknown>)['theme'] = 'dark';
      },
    });
    const result = await app.run(remember, { session });
    expect(result).toHaveState('user', 'theme', 'dark');
    expect(result.session.events).toHaveState('user', 'theme', 'dark');
    expect(result).not.toHaveState('session', 'theme');
  });

  test('a large value is compared as a whole, of a session and of a recorded ledger', async () => {
    const large = { text: 'y'.repeat(100_000) };
    const fill = step({
      name: 'fill',
      execute: (ctx) => {
        ctx.state['page'] = large;
      },
    });
    const result = await run(fill);
    expect(result.session).toHaveState('session', 'page', large);
    expect(result.session.toJSON()).toHaveState('session', 'page', large);
    expect(result.session).not.toHaveState('session', 'page', { text: `${large.text}!` });
  });

  test('says what is there instead', () => {
    expect(
      failureOf(() => expect(trip.session).toHaveState('session', 'lastCity', 'Paris')),
    ).toMatchInlineSnapshot(`
      "expect(session).toHaveState(scope, key, value)

      Expected session state lastCity: 'Paris'
      Received session state lastCity: 'Rome'"
    `);
    expect(
      failureOf(() =>
        expect(trip.session).toHaveState('session', 'trip', { city: 'Paris', days: 3 }),
      ),
    ).toMatchInlineSnapshot(`
      "expect(session).toHaveState(scope, key, value)

      Expected session state trip: { city: 'Paris', days: 3 }
      Received session state trip: { city: 'Rome', days: 3 }

      - Expected
      + Received

        {
      -   "city": "Paris",
      +   "city": "Rome",
          "days": 3,
        }"
    `);
    expect(
      failureOf(() => expect(trip).toHaveState('session', 'lastcity', 'Rome')),
    ).toMatchInlineSnapshot(`
      "expect(run).toHaveState(scope, key, value)

      Expected session state lastcity: 'Rome'
      Received session state lastcity: no value

      Did you mean lastCity? The session state has:
        1. lastCity = 'Rome'
        2. trip = { city: 'Rome', days: 3 }"
    `);
    expect(
      failureOf(() => expect(trip.session).toHaveState('session', 'missing')),
    ).toMatchInlineSnapshot(`
      "expect(session).toHaveState(scope, key)

      Expected session state missing: any value
      Received session state missing: no value

      The session state has:
        1. lastCity = 'Rome'
        2. trip = { city: 'Rome', days: 3 }"
    `);
    expect(
      failureOf(() => expect(trip.session).toHaveState('session', 'lastCity', undefined)),
    ).toMatchInlineSnapshot(`
      "expect(session).toHaveState(scope, key, value)

      Expected session state lastCity: no value
      Received session state lastCity: 'Rome'"
    `);
    expect(
      failureOf(() => expect(trip.session).not.toHaveState('session', 'lastCity', 'Rome')),
    ).toMatchInlineSnapshot(`
      "expect(session).not.toHaveState(scope, key, value)

      Expected session state lastCity: not 'Rome'
      Received session state lastCity: 'Rome'"
    `);
    expect(
      failureOf(() => expect([]).toHaveState('session', 'lastCity', 'Rome')),
    ).toMatchInlineSnapshot(`
      "expect(events).toHaveState(scope, key, value)

      Expected session state lastCity: 'Rome'
      Received session state lastCity: no value

      The session state is empty."
    `);
  });

  test('refuses what no ledger can say', () => {
    expect(misuseOf(() => expect(trip).toHaveState('temp', 'key', 1))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveState() cannot be used like this: temporary state is ' +
        'not recorded, so no ledger has it."',
    );
    expect(misuseOf(() => expect(trip).not.toHaveState('sesion', 'key', 1))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveState() cannot be used like this: the run knows no ' +
        'scope "sesion" (did you mean "session"?)."',
    );
    expect(
      misuseOf(() => expect(trip).not.toHaveState('warehouse', 'key', 1)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveState() cannot be used like this: the run knows no ' +
        'scope "warehouse" (it knows session)."',
    );
    expect(misuseOf(() => expect(trip).toHaveState('session', 1 as never))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveState() cannot be used like this: the key must be a ' +
        'string that is not empty, not 1."',
    );
    expect(
      misuseOf(() => expect(trip.session.events.slice(2)).toHaveState('session', 'lastCity')),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveState() cannot be used like this: it needs a ledger ' +
        'from its first event on, and the event at index 0 has seq 3; give it the session."',
    );
  });

  test('keys that objects have by nature are no state', () => {
    expect(trip.session).not.toHaveState('session', 'constructor');
    expect(trip.session).not.toHaveState('session', '__proto__');
  });
});

describe('toHaveStatus', () => {
  const failing = agent({
    name: 'failing',
    model: scriptedModel([{ error: new Error('The line is dead') }]),
  });
  const ask = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => 'paid',
  });
  const asking = () =>
    agent({
      name: 'payer',
      model: scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'ok' }]),
      tools: [ask],
    });

  test('knows the statuses of results and of sessions', async () => {
    expect(trip).toHaveStatus('completed');
    expect(trip).not.toHaveStatus('error');
    for (const source of [trip.session, trip.session.events, trip.session.toJSON()]) {
      expect(source).toHaveStatus('completed');
      expect(source).not.toHaveStatus('awaiting_input');
    }
    const waiting = await run(asking(), 'Pay');
    expect(waiting).toHaveStatus('yielded');
    expect(waiting.session).toHaveStatus('awaiting_input');
    expect(waiting.session.events).toHaveStatus('awaiting_input');
    expect(await run(failing, 'hi')).toHaveStatus('error');
    expect([]).toHaveStatus('active');
  });

  test('says why it came to another', async () => {
    const waiting = await run(asking(), 'Pay');
    expect(failureOf(() => expect(waiting).toHaveStatus('completed'))).toMatchInlineSnapshot(`
      "expect(run).toHaveStatus(status)

      Expected status: "completed"
      Received status: "yielded"

      Waiting: pay, for approval"
    `);
    const failed = await run(failing, 'hi');
    expect(
      failureOf(() => expect(failed.session).toHaveStatus('completed')),
    ).toMatchInlineSnapshot(`
      "expect(session).toHaveStatus(status)

      Expected status: "completed"
      Received status: "error"

      The last error: model_unknown: scripted:scripted failed. The provider says: The scripted model has 1 responses and was called once more, with this last message: {"role":"user","content":[{"type":"text","text":"hi"}]}"
    `);
    expect(failureOf(() => expect(trip).not.toHaveStatus('completed'))).toMatchInlineSnapshot(`
      "expect(run).not.toHaveStatus(status)

      Expected status: not "completed"
      Received status: "completed""
    `);
  });

  test('refuses a status that can never be', () => {
    expect(misuseOf(() => expect(trip.session).toHaveStatus('yielded'))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveStatus() cannot be used like this: "yielded" is a ' +
        'status of results, and it was given a session; those of sessions are active, ' +
        'awaiting_input, sleeping, completed, error."',
    );
    expect(misuseOf(() => expect(trip).not.toHaveStatus('awaiting_input'))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveStatus() cannot be used like this: "awaiting_input" is ' +
        'a status of sessions, and it was given a run; those of results are completed, ' +
        'error, cancelled, yielded."',
    );
    expect(
      misuseOf(() => expect(trip).not.toHaveStatus('complete' as never)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveStatus() cannot be used like this: there is no status ' +
        '"complete" (did you mean "completed"?)."',
    );
    expect(misuseOf(() => expect(trip).toHaveStatus({} as never))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveStatus() cannot be used like this: the status must be a ' +
        'string, not an object; those of results are completed, error, cancelled, yielded."',
    );
  });
});
