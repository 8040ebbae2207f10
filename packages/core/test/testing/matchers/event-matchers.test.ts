import 'adjutant/testing/vitest';
import { agent, type Event, run, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askForTrip, failureOf, misuseOf } from './conversation.ts';

let trip: Awaited<ReturnType<typeof askForTrip>>;
beforeAll(async () => {
  trip = await askForTrip();
});

describe('toHaveEvent', () => {
  test('compares the members that are given, at every depth', () => {
    expect(trip.session.events).toHaveEvent({ type: 'tool_call', name: 'getWeather' });
    expect(trip).toHaveEvent({ type: 'tool_call', args: { city: 'Rome' } });
    expect(trip).toHaveEvent({
      type: 'tool_result',
      result: { status: 'success', content: { degrees: expect.any(Number) } },
    });
    expect(trip).toHaveEvent({ type: 'user', text: expect.stringContaining('Rome') });
    expect(trip).toHaveEvent({ agent: 'travel', text: 'Let me see.' });
    expect(trip).not.toHaveEvent({ type: 'tool_call', args: { city: 'Paris' } });
    expect(trip).not.toHaveEvent({ type: 'cancel' });
  });

  test('says which events there are instead', () => {
    expect(
      failureOf(() =>
        expect(trip).toHaveEvent({
          type: 'tool_call',
          name: 'getWeather',
          args: { city: 'Paris' },
        }),
      ).replaceAll(/run_\w{16}/g, 'run_…'),
    ).toMatchInlineSnapshot(`
      "expect(run).toHaveEvent(event)

      Expected event: { type: 'tool_call', name: 'getWeather', args: { city: 'Paris' } }
      Events of type tool_call:
        1. seq 5 { name: 'getWeather', args: { city: 'Rome', days: 3 } }
        2. seq 11 { name: 'bookTrain', args: { to: 'Rome' } }
        3. seq 12 { name: 'bookPlane', args: {} }

      Difference to the nearest:

      - Expected
      + Received

        {
          "args": {
      -     "city": "Paris",
      +     "city": "Rome",
          },
          "name": "getWeather",
          "type": "tool_call",
        }"
    `);
    expect(
      failureOf(() => expect(trip.session).toHaveEvent({ type: 'cancel' })),
    ).toMatchInlineSnapshot(`
      "expect(session).toHaveEvent(event)

      Expected event: { type: 'cancel' }
      There is no event of type cancel. Types that there are: user, invocation_start, model_start (3), assistant (2), tool_call (3), model_end (3), tool_attempt (2), state_change, tool_result (3), decision, invocation_end"
    `);
    expect(
      failureOf(() => expect(trip.session.events).toHaveEvent({ agent: 'nobody' })),
    ).toMatchInlineSnapshot(`
      "expect(events).toHaveEvent(event)

      Expected event: { agent: 'nobody' }
      None of 21 events has these members. Types that there are: user, invocation_start, model_start (3), assistant (2), tool_call (3), model_end (3), tool_attempt (2), state_change, tool_result (3), decision, invocation_end"
    `);
    expect(
      failureOf(() =>
        expect(trip).not.toHaveEvent({ type: 'user', text: 'I want to go to Rome' }),
      ).replaceAll(/run_\w{16}/g, 'run_…'),
    ).toMatchInlineSnapshot(`
      "expect(run).not.toHaveEvent(event)

      Expected event: not { type: 'user', text: 'I want to go to Rome' }
      It is there:
        1. seq 1 { text: 'I want to go to Rome' }"
    `);
  });

  test('refuses what can fit none, or every event', () => {
    expect(
      misuseOf(() => expect(trip).toHaveEvent({ type: 'tool_cal' } as never)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveEvent() cannot be used like this: there is no event ' +
        'type "tool_cal" (did you mean "tool_call"?)."',
    );
    expect(misuseOf(() => expect(trip).not.toHaveEvent({}))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveEvent() cannot be used like this: an event without ' +
        'members is every event."',
    );
    expect(misuseOf(() => expect(trip).not.toHaveEvent('user' as never))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveEvent() cannot be used like this: an event must be ' +
        'given as an object with some of its members, not "user"."',
    );
  });

  test('a large value is compared as a whole', async () => {
    const large = 'z'.repeat(90_000);
    const { session } = await run(
      agent({ name: 'a', model: scriptedModel([{ text: large }]) }),
      'hi',
    );
    expect(session).toHaveEvent({ type: 'assistant', text: large });
    expect(session.events).not.toHaveEvent({ type: 'assistant', text: large });
  });
});

describe('toHaveDecision', () => {
  test('finds what supervision, people and the runtime decided', async () => {
    expect(trip).toHaveDecision({ component: 'error_router', decision: 'hint' });
    expect(trip.session).toHaveDecision({
      component: 'error_router',
      reasoning: expect.stringContaining('unknown_tool'),
      data: { tool: 'bookPlane' },
    });
    expect(trip.session.events).toHaveDecision({
      component: 'error_router',
      alternatives: ['report'],
    });
    expect(trip).not.toHaveDecision({ component: 'loop_detector' });
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({}),
      approval: true,
      execute: () => 'paid',
    });
    const payer = agent({
      name: 'payer',
      model: scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'ok' }]),
      tools: [pay],
    });
    const app = runtime({ app: 'shop', runnables: [payer] });
    const waiting = await app.run(payer, 'Pay');
    await app.requests.reject(waiting.pendingApprovals[0]?.requestId ?? '', {
      by: 'user:ann',
      reason: 'too dear',
    });
    const ended = await app.run(payer, { session: waiting.session });
    expect(ended).toHaveDecision({ component: 'request', decision: 'reject', why: 'too dear' });
  });

  test('of the result of a run, its own decisions count', async () => {
    const clerk = agent({
      name: 'clerk',
      model: scriptedModel([{ toolCalls: [{ name: 'none' }] }, { text: 'a' }, { text: 'b' }]),
    });
    const app = runtime({ app: 'shop' });
    await app.run(clerk, { session: 'talk', input: 'one' });
    const second = await app.run(clerk, { session: 'talk', input: 'two' });
    expect(second.session).toHaveDecision({ component: 'error_router' });
    expect(second).not.toHaveDecision({ component: 'error_router' });
  });

  test('says what was decided instead', async () => {
    expect(
      failureOf(() =>
        expect(trip).toHaveDecision({ component: 'error_router', decision: 'report' }),
      ),
    ).toMatchInlineSnapshot(`
      "expect(run).toHaveDecision(decision)

      Expected decision: { component: 'error_router', decision: 'report' }
      Decisions:
        1. error_router: hint  It failed with unknown_tool for the first time: the model is told what it may do instead.

      Difference to the nearest:

      - Expected
      + Received

        {
          "component": "error_router",
      -   "decision": "report",
      +   "decision": "hint",
        }"
    `);
    expect(
      failureOf(() => expect(trip).toHaveDecision({ component: 'loop_detector' })),
    ).toMatchInlineSnapshot(`
      "expect(run).toHaveDecision(decision)

      Expected decision: { component: 'loop_detector' }
      Decisions:
        1. error_router: hint  It failed with unknown_tool for the first time: the model is told what it may do instead."
    `);
    expect(
      failureOf(() => expect(trip).not.toHaveDecision({ decision: 'hint' })),
    ).toMatchInlineSnapshot(`
      "expect(run).not.toHaveDecision(decision)

      Expected decision: not { decision: 'hint' }
      It was made:
        1. error_router: hint  It failed with unknown_tool for the first time: the model is told what it may do instead."
    `);
    expect(failureOf(() => expect([]).toHaveDecision({ decision: 'hint' }))).toMatchInlineSnapshot(`
      "expect(events).toHaveDecision(decision)

      Expected decision: { decision: 'hint' }
      Nothing was decided."
    `);
  });

  test('refuses what is no part of a decision', () => {
    expect(
      misuseOf(() => expect(trip).toHaveDecision({ componant: 'limits' } as never)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveDecision() cannot be used like this: decisions have no ' +
        '`componant` (did you mean `component`?)."',
    );
    expect(misuseOf(() => expect(trip).not.toHaveDecision({}))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveDecision() cannot be used like this: a decision without ' +
        'members is every decision."',
    );
    expect(
      misuseOf(() => expect(trip).not.toHaveDecision('limits' as never)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveDecision() cannot be used like this: a decision must be ' +
        'given as an object with some of its members, not "limits"."',
    );
  });

  test('events with the names of natural members do no harm', () => {
    const strange = [
      { v: 1, seq: 1, id: 'a', at: 0, by: 'runtime', type: 'constructor' },
    ] as unknown as readonly Event[];
    expect(strange).not.toHaveDecision({ component: 'limits' });
    expect(strange).not.toHaveToolCall('x');
    expect(strange).toMatchLedger('constructor');
  });
});
