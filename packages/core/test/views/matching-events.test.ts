import { agent, agentTool, type Event, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { matchingEvents, storedEventTypes } from 'adjutant/views';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryLedger } from '../arbitrary-ledger.ts';

test('events are chosen by type, time and text, all at once', () => {
  fc.assert(
    fc.property(
      arbitraryLedger(),
      fc.subarray([...storedEventTypes]),
      fc.nat(60),
      fc.nat(60),
      fc.constantFrom('RUN', 'key', '"'),
      (events, types, first, count, text) => {
        const from = events[first]?.at ?? 0;
        const to = events[first + count]?.at ?? Number.POSITIVE_INFINITY;
        const expected = events
          .filter(({ type }) => types.includes(type))
          .filter(({ at }) => at >= from && at < to)
          .filter((event) => JSON.stringify(event).toLowerCase().includes(text.toLowerCase()));
        expect(matchingEvents(events, { types, from, to, text })).toEqual(expected);
        expect(matchingEvents(events, {})).toEqual(events);
      },
    ),
  );
});

test('events of an agent are its own, and those around which it is the nearest', async () => {
  const helper = agent({ name: 'helper', model: scriptedModel([{ text: 'No.' }]) });
  const boss = agent({
    name: 'boss',
    model: scriptedModel([
      { toolCalls: [{ name: 'helper', args: { message: 'Is it there?' } }] },
      { text: 'It is not.' },
    ]),
    tools: [agentTool(helper)],
  });
  const app = runtime({ app: 'filters' });
  await app.run(boss, { session: 's', input: 'Look.', runId: 'run' });
  const { events } = await app.sessions.get('s');
  const pathsOf = (found: readonly Event[]) =>
    new Set(found.map(({ invocationId }) => invocationId));
  const [ofBoss, ofHelper] = ['boss', 'helper'].map((name) =>
    matchingEvents(events, { agent: name }),
  );
  const called = events.find(
    ({ type, invocationId }) => type === 'invocation_start' && invocationId !== 'run',
  );
  expect(pathsOf(ofBoss ?? [])).toEqual(new Set(['run']));
  expect(pathsOf(ofHelper ?? [])).toEqual(new Set([called?.invocationId]));
  expect(matchingEvents(events, { agent: 'nobody' })).toEqual([]);
});
