import type { Event } from 'adjutant';
import {
  appendBoundaries,
  type CrashManner,
  continueFrom,
  crashPoints,
  type MakeScenario,
  openInvocations,
  runWhole,
} from 'adjutant/testing';
import { expect, test } from 'vitest';
import { scenarios as matrix } from '../../crash/scenarios.ts';
import * as scenarios from './recovery/scenarios.ts';

/** Every place on every store, this one included, is the matter of `npm run test:crash`. */
const every = 9;
const manners: readonly CrashManner[] = ['copied', 'given-back', 'before', 'after', 'twice'];

test.each(Object.entries(matrix))(
  '%s goes on to the same end wherever it stops',
  async (_scenario, make) => {
    const { points } = await crashPoints(make, { manners, appends: 'batched', every });
    expect(points).toBeGreaterThanOrEqual(manners.length);
  },
);

/**
 * Returns the idempotency keys of attempts before the cut, but for those that had no effect.
 */
function recordedKeys(events: readonly Event[]): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'tool_attempt') keys.set(event.callId, event.key);
    if (event.type === 'tool_result' && event.effect === 'none') keys.delete(event.callId);
  }
  return keys;
}

function settledCalls(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'tool_result' && event.settled ? [event.callId] : [],
  );
}

test(
  'a tool that reports is executed at most once, and its unknown outcome is told to ' + 'the model',
  async () => {
    const make = scenarios.agentScenario('report');
    const whole = await runWhole(make);
    for (const cut of appendBoundaries(whole.events)) {
      if (cut === whole.events.length) continue;
      const prefix = whole.events.slice(0, cut);
      const { executions, outcome, events } = await continueFrom(make, prefix);
      const attempted = recordedKeys(prefix);
      for (const { callId } of executions) expect(attempted.has(callId)).toBe(false);
      expect(new Set(executions.map(({ callId }) => callId)).size).toBe(executions.length);
      expect(outcome.result).toMatchObject({ status: 'completed', output: 'done' });
      const open = [...attempted.keys()].filter((callId) => !settledCalls(prefix).includes(callId));
      for (const callId of open) {
        const result = events.find(
          (event) => event.type === 'tool_result' && event.callId === callId && event.settled,
        );
        expect(result).toMatchObject({ effect: 'unknown', result: { status: 'unknown' } });
      }
    }
  },
);

test(
  'a branch that failed has the others cancelled, also when the process stopped in between; ' +
    'none of them is begun again',
  async () => {
    const whole = await runWhole(scenarios.failFast);
    expect(whole.outcome.result).toMatchObject({
      status: 'error',
      error: { code: 'too_few_branches' },
    });
    const failure =
      whole.events.findIndex(
        (event) => event.type === 'invocation_end' && event.invocationId === 'run/line',
      ) + 1;
    expect(failure).toBeGreaterThan(0);
    for (const cut of appendBoundaries(whole.events)) {
      if (cut === whole.events.length) continue;
      const { outcome, executions, events } = await continueFrom(
        scenarios.failFast,
        whole.events.slice(0, cut),
      );
      expect({ cut, ...outcome.result, state: outcome.state }).toEqual({
        cut,
        ...whole.outcome.result,
        state: whole.outcome.state,
      });
      if (cut >= failure) expect({ cut, executions }).toEqual({ cut, executions: [] });
      const ends = events.flatMap((event) =>
        event.type === 'invocation_end' ? [`${event.invocationId} ${event.status}`] : [],
      );
      expect(ends.slice(-3).sort()).toEqual([
        'run error',
        'run/line error',
        'run/patient cancelled',
      ]);
      expect(ends.at(-1)).toBe('run error');
      expect(openInvocations(events)).toEqual([]);
    }
  },
);

test('writes to a shared scope land once', async () => {
  const { shared } = await runWhole(matrix['writes to a shared scope'] as MakeScenario);
  expect(shared).toEqual({ user: { n: 8 } });
});
