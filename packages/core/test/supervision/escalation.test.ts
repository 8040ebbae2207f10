import { ToolFailure, toolResult } from 'adjutant';
import { answer, meanwhile, model, runTest, user } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { againAfter, plain, succeeded } from '../result-patterns.ts';
import { asks, failing, results, worker } from './failing-tool.ts';

describe('escalation', () => {
  const how = () => new ToolFailure('The vault is locked.', { errorType: 'locked' });
  const to = (escalate: 'caller' | 'human' | 'failures') => ({
    supervision: { errors: { chains: { locked: [{ escalate }] } } },
  });

  test('to the caller: the agent ends with what was tried', async () => {
    const { result, events } = await runTest(worker([failing(how)], to('caller')), [
      user('Go'),
      ...asks('fetch'),
    ]);
    expect(result).toMatchObject({
      status: 'error',
      error: { code: 'escalated', data: { tool: 'fetch', errorType: 'locked' } },
    });
    expect(results(events)).toMatchObject([
      { settled: true, result: { escalate: true, escalation: expect.any(String) } },
    ]);
  });

  test.each<['retry' | 'succeeded' | 'report', string, readonly object[]]>([
    ['retry', 'done', [againAfter(0), succeeded]],
    ['succeeded', 'done', [succeeded]],
    ['report', 'done', [plain]],
  ])('to a person, who says: %s', async (decision, output, expected) => {
    const vault = failing(how, { times: 1 });
    const { session, output: said } = await runTest(worker([vault], to('human')), [
      user('Go'),
      ...asks('fetch'),
      meanwhile(({ pending }) =>
        expect(pending).toMatchObject([
          { kind: 'recovery', request: { options: ['succeeded', 'retry', 'report'] } },
        ]),
      ),
      answer(decision, {
        tool: 'fetch',
        ...(decision === 'succeeded' ? { input: 'opened by hand' } : {}),
      }),
      model('done'),
    ]);
    expect(said).toBe(output);
    expect(results(session.events)).toMatchObject(expected);
    if (decision === 'report')
      expect(results(session.events).at(-1)?.result).toMatchObject({
        errorType: 'locked',
        content: 'The vault is locked.',
      });
    expect(session).toHaveDecision({
      component: 'error_router',
      decision: 'escalate',
      data: expect.objectContaining({ escalateTo: 'human' }),
    });
  });

  test('to the list of failures: the agent goes on, and the session has it', async () => {
    const { result, events } = await runTest(worker([failing(how)], to('failures')), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(result).toMatchObject({ status: 'completed', output: 'done' });
    expect(events.filter((event) => event.type === 'error')).toMatchObject([
      { phase: 'escalation', error: { code: 'escalated', data: { errorType: 'locked' } } },
    ]);
  });

  test('a result that asks for it is handed up at once', async () => {
    const escalating = failing(() =>
      toolResult.transient('busy', { escalate: true, escalation: 'I tried all three servers.' }),
    );
    const { result } = await runTest(worker([escalating]), [user('Go'), ...asks('fetch')]);
    expect(escalating.runs).toEqual([1]);
    expect(result.error).toMatchObject({
      code: 'escalated',
      data: { tried: 'I tried all three servers.' },
    });
  });
});
