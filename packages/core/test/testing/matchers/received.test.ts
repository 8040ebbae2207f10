import 'adjutant/testing/vitest';
import { agent, run, runtime, type Session } from 'adjutant';
import { type matchers, model, runTest, scriptedModel, user } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { askForTrip, failureOf, misuseOf } from './conversation.ts';

const expectations: Readonly<Record<keyof typeof matchers, readonly unknown[]>> = {
  toHaveAssistantText: ['x'],
  toHaveToolCall: ['x'],
  toHaveToolOrder: [['x']],
  toHaveState: ['session', 'x'],
  toHaveEvent: [{ type: 'user' }],
  toHaveStatus: ['completed'],
  toHaveDecision: [{ component: 'limits' }],
  toMatchLedger: [['x']],
};

type Assertion = Readonly<Record<string, (...expected: readonly unknown[]) => void>> & {
  readonly not: Assertion;
};

test.each(Object.entries(expectations))(
  '%s refuses what has no events, with and without not',
  (name, expected) => {
    for (const wrong of [
      undefined,
      null,
      'session',
      7,
      {},
      { events: 'none' },
      [1],
      Promise.resolve([]),
    ]) {
      const assertion = (): Assertion => expect(wrong) as unknown as Assertion;
      expect(misuseOf(() => assertion()[name]?.(...expected))).toMatch(
        new RegExp(
          `^invalid_matcher_use: ${name}\\(\\) cannot be used like this: it needs a session`,
        ),
      );
      expect(misuseOf(() => assertion().not[name]?.(...expected))).toMatch(
        /^invalid_matcher_use: /,
      );
    }
  },
);

test('the refusal says what was given', () => {
  expect(
    misuseOf(() => expect({ output: 'x', state: {} }).toHaveToolCall('x')),
  ).toMatchInlineSnapshot(
    '"invalid_matcher_use: toHaveToolCall() cannot be used like this: it needs a session, ' +
      '`session.events`, the result of a run or of `runTest`, or a recorded ledger, not ' +
      'an object with the members output, state."',
  );
  expect(
    misuseOf(() =>
      expect(run(agent({ name: 'a', model: scriptedModel([{ text: 'x' }]) }), 'hi')).toHaveStatus(
        'completed',
      ),
    ),
  ).toMatchInlineSnapshot(
    '"invalid_matcher_use: toHaveStatus() cannot be used like this: it needs a session, ' +
      '`session.events`, the result of a run or of `runTest`, or a recorded ledger, not ' +
      'a promise: await it first, `expect(await …)`."',
  );
  expect(
    misuseOf(() => expect([{ type: 'user' }, 'x']).toHaveEvent({ type: 'user' })),
  ).toMatchInlineSnapshot(
    '"invalid_matcher_use: toHaveEvent() cannot be used like this: it needs a session, ' +
      '`session.events`, the result of a run or of `runTest`, or a recorded ledger, not ' +
      'a list whose entry 1 is "x" and no event."',
  );
});

test('a run that is under way is taken with resolves', async () => {
  await expect(
    run(agent({ name: 'a', model: scriptedModel([{ text: 'Hello' }]) }), 'hi'),
  ).resolves.toHaveAssistantText('Hello');
});

test('of the result of a run, the events of that run count; of its session, all', async () => {
  const clerk = agent({
    name: 'clerk',
    model: scriptedModel([{ text: 'First answer' }, { text: 'Second answer' }]),
  });
  const app = runtime({ app: 'shop' });
  const first = await app.run(clerk, { session: 'talk', input: 'one' });
  const second = await app.run(clerk, { session: 'talk', input: 'two' });
  expect(first).toHaveAssistantText('First');
  expect(second).not.toHaveAssistantText('First');
  expect(second.session).toHaveAssistantText('First');
  expect(second).toMatchLedger(`
    user: two
    agent clerk starts
      clerk: Second answer
      clerk ends
  `);
});

test('a recorded ledger is taken as well, with its large values', async () => {
  const large = 'x'.repeat(200_000);
  const { session } = await run(
    agent({ name: 'clerk', model: scriptedModel([{ text: `${large} and the end` }]) }),
    'hi',
  );
  const recorded = JSON.parse(JSON.stringify(session)) as ReturnType<Session['toJSON']>;
  expect(recorded.blobs).toBeDefined();
  expect(session).toHaveAssistantText('and the end');
  expect(recorded).toHaveAssistantText('and the end');
  // Events alone have but a reference and the beginning.
  expect(session.events).not.toHaveAssistantText('and the end');
  expect(session).toMatchLedger([
    /^user/,
    /starts/,
    /clerk: x{120}… \(200012 characters, [0-9a-f]{6}\)$/,
    /ends$/,
  ]);
});

test('asymmetric use works as with other matchers', async () => {
  const trip = await askForTrip();
  expect({ trip }).toEqual({ trip: expect.toHaveToolCall('getWeather') });
  expect({ trip }).not.toEqual({ trip: expect.toHaveToolCall('getTides') });
  expect(
    failureOf(() =>
      expect({ trip: trip.session.events }).toEqual({ trip: expect.toHaveToolCall('getTides') }),
    ),
  ).toMatch(/toHaveToolCall/);
});

test('one object drives a test and is what is asserted: the result of runTest', async () => {
  const host = agent({ name: 'host', model: scriptedModel([]) });
  const driven = await runTest(host, [
    user('Hello'),
    model('Welcome'),
    user('Who are you?'),
    model('The host'),
  ]);
  expect(driven).toHaveStatus('completed');
  // All runs of the test count, not the last alone.
  expect(driven).toHaveAssistantText('Welcome');
  expect(driven.result).not.toHaveAssistantText('Welcome');
  expect(driven).toHaveState('session', 'x', undefined);
  expect(driven).toMatchLedger([/Hello/, /Welcome/, /Who/, /host: The host$/], { exact: false });
  expect(misuseOf(() => expect(driven).toHaveStatus('active'))).toContain(
    '"active" is a status of sessions, and it was given a test',
  );
});
