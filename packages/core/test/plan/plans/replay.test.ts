import { agent, memoryStore, runtime, step, tool } from 'adjutant';
import { plan } from 'adjutant/plan';
import { recordedLedgerOf, replay } from 'adjutant/replay';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const answers = [
  '[{"id":"a","description":"Pay","tool":"pay","args":{"n":7}},{"id":"b","description":"Say"}]',
  '[{"id":"a","description":"Pay","tool":"pay","args":{"n":7}}]',
];

/** An app with a plan whose tool takes sums up to a limit. */
function appWith(most: number) {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    // The limit is no part of what the planner reads.
    schema: z.object({ n: z.number().refine((n) => n <= most, `must be at most ${most}`) }),
    execute: ({ args }) => args.n,
  });
  const paying = plan({
    name: 'paying',
    planner: agent({
      name: 'planner',
      model: scriptedModel(answers.map((text) => ({ text }))),
    }),
    workers: [step({ name: 'say', execute: (ctx) => ctx.complete('said'), effects: false })],
    tools: [pay],
  });
  const app = runtime({
    app: 'plans',
    store: memoryStore(),
    recover: 'manual',
    runnables: [paying],
  });
  return { app, paying };
}

test('a replay finds an edit of the validator of a plan at the right event', async () => {
  const { app, paying } = appWith(10);
  const { session, error } = await app.run(paying, { session: 's', input: 'Go', runId: 'run' });
  expect(error).toBeUndefined();
  const record = recordedLedgerOf(session);
  expect((await replay(record, appWith(10).app)).divergence).toBeUndefined();
  const { divergence } = await replay(record, appWith(5).app);
  expect(divergence).toMatchObject({
    seq: record.events.find(({ type }) => type === 'plan')?.seq,
    path: 'run',
    kind: 'control_flow',
  });
  expect(divergence?.subject).toContain('correct');
});
