import { memoryStore, runtime, step } from 'adjutant';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => void vi.unstubAllEnvs());

const job = step({ name: 'job', execute: async (ctx) => ctx.complete('done') });

test('the environment names the queues that an app serves', async () => {
  vi.stubEnv('ADJUTANT_QUEUES', 'mail, chat');
  vi.stubEnv('ADJUTANT_SLOTS', '1');
  const app = runtime({
    app: 'desk',
    store: memoryStore(),
    runnables: [job],
    work: { queues: ['default'] },
  });
  const left = await app.submit(job, 'x');
  const mail = await app.submit(job, 'x', { queue: 'mail' });
  expect(await mail.wait()).toMatchObject({ status: 'completed' });
  expect(await app.tasks.explain(left.id)).toMatchObject({ block: { kind: 'out_of_scope' } });
  await app.close();
});

test.each([
  ['ADJUTANT_SLOTS', 'many'],
  ['ADJUTANT_SLOTS', '0'],
  ['ADJUTANT_QUEUES', 'a,,b'],
])('%s=%s is refused', (name, value) => {
  vi.stubEnv(name, value);
  expect(() => runtime({ app: 'desk', store: memoryStore() })).toThrow(
    expect.objectContaining({ code: 'invalid_runtime', message: expect.stringContaining(name) }),
  );
});
