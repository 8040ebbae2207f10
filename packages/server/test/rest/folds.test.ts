import { agent, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { confidenceOf, runReport } from 'adjutant/views';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { SessionRuns } from '../../src/runs/session-runs.ts';
import { SessionUsage } from '../../src/runs/session-usage.ts';

const usage = fc.record({
  inputTokens: fc.nat(1_000),
  outputTokens: fc.nat(1_000),
  cachedInputTokens: fc.nat(100),
  reasoningTokens: fc.nat(100),
});
const look = tool({
  name: 'look',
  description: 'Looks',
  schema: z.object({}),
  readOnly: true,
  execute: () => 'nothing',
});
/**
 * Runs of a session: the usage of each call of the model; all but the last one of a run call a
 * tool.
 */
const sessions = fc.array(fc.array(usage, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 4,
});

test('what runs and sessions used is what their reports say', async () => {
  await fc.assert(
    fc.asyncProperty(sessions, async (runs) => {
      const turns = runs.flatMap((calls) =>
        calls.map((of, index) => ({
          usage: of,
          ...(index < calls.length - 1 ? { toolCalls: [{ name: 'look' }] } : { text: 'Done.' }),
        })),
      );
      const worker = agent({ name: 'worker', model: scriptedModel(turns), tools: [look] });
      const app = runtime({ app: 'folds' });
      for (const number of runs.keys())
        await app.run(worker, { session: 's', input: 'Go', runId: `run-${number}` });
      const { events } = await app.sessions.open({ id: 's' });
      const folded = new SessionRuns();
      const used = new SessionUsage('s', {});
      for (const event of events) {
        folded.add(event);
        used.add(event);
      }
      expect(folded.seq).toBe(events.length);
      expect(
        folded.all.map(({ id, status, endSeq = 0 }) => [id, status, events[endSeq - 1]]),
      ).toEqual(
        runs.map((_, number) => [
          `run-${number}`,
          'completed',
          expect.objectContaining({ type: 'invocation_end', output: 'Done.' }),
        ]),
      );
      for (const { id, use, confidence } of folded.all) {
        const report = runReport(events, id);
        expect(confidence).toBe(confidenceOf(events, id));
        expect(use.calls).toBe(report.rounds);
        expect(use.usage).toMatchObject(report.usage);
      }
      const sum = (of: 'inputTokens' | 'outputTokens') =>
        runs.flat().reduce((total, call) => total + call[of], 0);
      expect(used.total).toMatchObject({
        calls: runs.flat().length,
        usage: { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') },
      });
      await app.close();
    }),
    { numRuns: 25 },
  );
});
