import type { Event } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { describe, expect, test } from 'vitest';
import { appendBoundaries, continueFrom, runWhole, stopAndContinue } from './recovery/crash-matrix.ts';
import { openPaths } from './recovery/process.ts';
import type { MakeScenario } from './recovery/scenario.ts';
import * as scenarios from './recovery/scenarios.ts';

const all: readonly (readonly [string, MakeScenario])[] = [
  ['an agent', scenarios.agentScenario('rerun')],
  ['concurrent tool calls', scenarios.parallelTools],
  ['a sequence with parallel and loop', scenarios.nested],
  ['a step that calls and writes state', scenarios.stepWithCalls],
  ['a tool that spawns an agent', scenarios.spawning],
  ['a step that dispatches an agent', scenarios.dispatching],
  ['a step that detaches what it spawned', scenarios.detaching],
  ['transfers by a tool and by a step', scenarios.transferring],
  ['tools that call an agent', scenarios.agentAsTool],
  ['effects in steps', scenarios.effectsInSteps],
  ['effects in a tool', scenarios.effectsInTool],
];

/** What the calls and effects whose attempts lie before the cut were given as idempotency key, unless it is known to have had no effect. */
function recordedKeys(events: readonly Event[]): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'tool_attempt') keys.set(event.callId, event.key);
    if (event.type === 'tool_result' && event.effect === 'none') keys.delete(event.callId);
  }
  return keys;
}

function settledCalls(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'tool_result' && event.settled ? [event.callId] : []));
}

describe.each(all)('%s', (_name, make) => {
  test('reaches the same outcome, state and projection from every append on', async () => {
    const whole = await runWhole(make);
    expect(whole.outcome.result.status).toBe('completed');
    const cuts = appendBoundaries(whole.events);
    expect(cuts.length).toBeGreaterThan(5);
    for (const cut of cuts) {
      const prefix = whole.events.slice(0, cut);
      if (prefix.length > 0 && openPaths(prefix).length === 0 && cut === whole.events.length) continue;
      const continued = await continueFrom(make, prefix);
      expect({ cut, ...continued.outcome }).toEqual({ cut, ...whole.outcome });
    }
  });

  test('reaches the same outcome and state when it is given back after any event', async () => {
    const whole = await runWhole(make);
    for (let seq = 1; seq < whole.events.length; seq++) {
      const { result, state } = (await stopAndContinue(make, seq)).outcome;
      expect({ seq, result, state }).toEqual({ seq, result: whole.outcome.result, state: whole.outcome.state });
    }
  });

  test('keeps the idempotency key, settles each call once and runs no settled call again', async () => {
    const whole = await runWhole(make);
    for (const cut of appendBoundaries(whole.events)) {
      const prefix = whole.events.slice(0, cut);
      if (cut === whole.events.length) continue;
      const { executions, events } = await continueFrom(make, prefix);
      const keys = recordedKeys(prefix);
      const settledBefore = settledCalls(prefix);
      for (const { callId, key } of executions) {
        if (keys.has(callId)) expect(key).toBe(keys.get(callId));
        expect(settledBefore).not.toContain(callId);
      }
      const settled = settledCalls(events);
      expect(new Set(settled).size).toBe(settled.length);
      const calls = events.flatMap((event) => (event.type === 'tool_call' || event.type === 'tool_attempt' ? [event.callId] : []));
      expect(new Set(settled)).toEqual(new Set(calls));
    }
  });
});

test('a tool that reports is executed at most once, and its unknown outcome is told to the model', async () => {
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
      const result = events.find((event) => event.type === 'tool_result' && event.callId === callId && event.settled);
      expect(result).toMatchObject({ effect: 'unknown', result: { status: 'unknown' } });
    }
  }
});

test('a branch that failed has the others cancelled, also when the process stopped in between; none of them is begun again (C5)', async () => {
  const whole = await runWhole(scenarios.failFast);
  expect(whole.outcome.result).toMatchObject({ status: 'error', error: { code: 'too_few_branches' } });
  const failure = whole.events.findIndex((event) => event.type === 'invocation_end' && event.invocationId === 'run/line') + 1;
  expect(failure).toBeGreaterThan(0);
  for (const cut of appendBoundaries(whole.events)) {
    if (cut === whole.events.length) continue;
    const { outcome, executions, events } = await continueFrom(scenarios.failFast, whole.events.slice(0, cut));
    expect({ cut, ...outcome.result, state: outcome.state }).toEqual({ cut, ...whole.outcome.result, state: whole.outcome.state });
    if (cut >= failure) expect({ cut, executions }).toEqual({ cut, executions: [] });
    const ends = events.flatMap((event) => (event.type === 'invocation_end' ? [`${event.invocationId} ${event.status}`] : []));
    expect(ends.slice(-3).sort()).toEqual(['run error', 'run/line error', 'run/patient cancelled']);
    expect(ends.at(-1)).toBe('run error');
    expect(openPaths(events)).toEqual([]);
  }
});

test.each([
  ['a sequence with parallel and loop', scenarios.nested],
  ['tools that call an agent', scenarios.agentAsTool],
  ['a step that calls and writes state', scenarios.stepWithCalls],
])('on SQLite %s goes on just so', async (_name, make) => {
  const whole = await runWhole(make);
  for (const cut of appendBoundaries(whole.events).filter((at) => at % 4 === 0 && at < whole.events.length)) {
    const { outcome } = await continueFrom(make, whole.events.slice(0, cut), sqlite(':memory:'));
    expect({ cut, ...outcome }).toEqual({ cut, ...whole.outcome });
  }
});
