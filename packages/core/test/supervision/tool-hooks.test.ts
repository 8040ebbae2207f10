import { type Hooks, toolResult } from 'adjutant';
import { advanceTime, model, runTest, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { plain } from '../result-patterns.ts';
import { asks, fails, type Options, results, worker, working } from './worker.ts';

describe('hooks around tools', () => {
  test('beforeTool is asked before each attempt, and what it gives is not run', async () => {
    const asked: number[] = [];
    const { tool: write, seen } = working((times) =>
      times === 1 ? toolResult.transient('busy') : 'written',
    );
    const hooks: Hooks = { beforeTool: (_ctx, call) => void asked.push(call.attempt) };
    await runTest(worker([write], { hooks }), [
      user('Go'),
      asks('write'),
      advanceTime(10_000),
      model('done'),
    ]);
    expect(asked).toEqual([1, 2]);
    expect(seen).toHaveLength(2);
  });

  test(
    'afterTool sees each attempt; onToolError only failures, before anything is ' + 'tried again',
    async () => {
      const after: string[] = [];
      const hooks: Hooks = {
        afterTool: (_ctx, _call, result) => void after.push(result.status),
        onToolError: (_ctx, _call, result) =>
          result.errorType === 'odd' ? { known: 'that this is odd' } : undefined,
      };
      const { tool: write, seen } = working(() => fails());
      const { events } = await runTest(worker([write], { hooks }), [
        user('Go'),
        asks('write'),
        model('done'),
      ]);
      expect(seen).toHaveLength(1);
      expect(after).toEqual(['error_permanent']);
      expect(results(events)).toMatchObject([
        { settled: true, result: { status: 'success', content: { known: 'that this is odd' } } },
      ]);
      expect(explain(events, { components: ['error_router'] })).toEqual([]);
    },
  );

  test(
    'a hook that throws ends the agent with its error, and the call is settled with what the ' +
      'tool gave',
    async () => {
      const hooks: Hooks = {
        afterTool: () => {
          throw new Error('no disk');
        },
      };
      const { result, events } = await runTest(worker([working().tool], { hooks }), [
        user('Go'),
        asks('write'),
      ]);
      expect(result).toMatchObject({ status: 'error', error: { code: 'hook_failed' } });
      expect(results(events)).toMatchObject([{ settled: true, result: { content: 'written' } }]);
      const before: Hooks = {
        beforeTool: () => {
          throw new Error('no disk');
        },
      };
      const { tool: write, seen } = working();
      const refused = await runTest(worker([write], { hooks: before }), [
        user('Go'),
        asks('write'),
      ]);
      expect(refused.result).toMatchObject({ status: 'error', error: { code: 'hook_failed' } });
      expect(seen).toEqual([]);
    },
  );
});

test.each<Options>([
  { outputSchema: z.string() },
  { finalize: () => Promise.reject(Object.assign(new Error('slow'), { code: 'ETIMEDOUT' })) },
])(
  'a tool that has done its work is not run again because of what failed afterwards',
  async (options) => {
    const { tool: write, seen } = working(() => 1, { readOnly: true, ...options });
    const { events } = await runTest(worker([write]), [user('Go'), asks('write'), model('done')]);
    expect(seen).toHaveLength(1);
    expect(results(events)).toMatchObject([plain]);
  },
);
