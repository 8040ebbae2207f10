import { agent, memoryStore, parallel, runtime, tool } from 'adjutant';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { busy, limitDecisions } from './busy-agent.ts';

test('limits that a run was given for itself hold for whoever continues it', async () => {
  const store = memoryStore();
  const make = (onCall: () => void) => {
    const tools = [
      tool({
        name: 'look',
        description: 'Looks',
        readOnly: true,
        schema: z.object({ at: z.number() }),
        execute: () => {
          onCall();
          return 'seen';
        },
      }),
    ];
    return agent({ name: 'long', model: busy('look'), tools });
  };
  let stop = (): void => undefined;
  const first = runtime({ app: 'limits', store, recover: 'manual' });
  const running = first.run(
    make(() => stop()),
    { input: 'Go', session: 's', limits: { rounds: 3 } },
  );
  stop = () => running.stop();
  await expect(Promise.resolve(running)).rejects.toMatchObject({ code: 'run_stopped' });
  const second = runtime({
    app: 'limits',
    store,
    recover: 'manual',
    limits: { rounds: 20 },
    runnables: [make(() => undefined)],
  });
  const result = await second.resume('s');
  expect(result).toMatchObject({ status: 'completed', stopReason: 'round_limit', rounds: 4 });
  expect(
    limitDecisions(result.session.events).filter(({ decision }) => decision === 'set'),
  ).toMatchObject([{ data: { rounds: 3 } }]);
  await first.close();
  await second.close();
});

test('the run warns once, also with branches and after a restart', async () => {
  const store = memoryStore();
  let stop = (): void => undefined;
  let looks = 0;
  const watched = tool({
    name: 'look',
    description: 'Looks',
    readOnly: true,
    schema: z.object({ at: z.number() }),
    execute: () => {
      if (++looks === 37) stop();
      return `seen ${looks}`;
    },
  });
  const runnables = ['a', 'b'].map((name) =>
    agent({ name, model: busy('look'), tools: [watched] }),
  );
  const both = parallel({ name: 'both', runnables });
  const app = runtime({
    app: 'limits',
    store,
    recover: 'manual',
    limits: { rounds: 40 },
    runnables: [both],
  });
  const running = app.run(both, { input: 'Go', session: 's' });
  stop = () => running.stop();
  await expect(Promise.resolve(running)).rejects.toMatchObject({ code: 'run_stopped' });
  const { session } = await app.resume('s');
  const warnings = limitDecisions(session.events).filter(
    ({ decision, data }) => decision === 'warn' && data?.['of'] === 'run',
  );
  expect(warnings).toMatchObject([{ data: { reason: 'round_limit', limit: 40 } }]);
  const exhausted = limitDecisions(session.events).filter(
    ({ decision }) => decision === 'exhausted',
  );
  expect(exhausted.map(({ data }) => data?.['of'])).toEqual(['run', 'run']);
  await app.close();
});
