import { join } from 'node:path';
import { runtime, step } from 'adjutant';
import { plan } from 'adjutant/plan';
import { sqlite } from 'adjutant/sqlite';
import { expect, test } from 'vitest';
import { bench, jsonLines } from '../run-cli.ts';

test('show --plan has subtasks, the critical path and revisions, at any event', async () => {
  const place = bench();
  const store = join(place.folder, 'office.db');
  const work = step({
    name: 'work',
    execute: (ctx) =>
      ctx.message?.startsWith('Break') ? ctx.fail('It broke.') : ctx.complete('done'),
  });
  const trip = plan({
    name: 'trip',
    planner: ({ task }) => [
      { id: 'a', description: 'Begin' },
      {
        id: 'b',
        description: task === 'plan' ? 'Break' : 'Go around',
        critical: true,
        dependsOn: ['a'],
      },
    ],
    workers: [work],
  });
  const app = runtime({ app: 'office', store: sqlite(store), runnables: [trip] });
  const { session } = await app.run(trip, { session: 's', input: 'Paris' });
  await app.run(work, { session: 'none', input: 'Go' });
  const second = session.events.find((event) => event.type === 'plan' && event.revision === 2);
  await app.close();
  const show = (...words: string[]) =>
    place.run(['show', ...words, '--plan', '--store', store, '--app', 'office']);
  const { stdout } = await show('s');
  expect(stdout).toContain('plan "Paris"  2 of 2 · revision 2 · completed');
  expect(stdout).toMatch(/✓ b {2}Go around · work · "done"/);
  expect(stdout).toContain('critical: a → b');
  expect(stdout).toContain(`#${second?.seq} revision 2: changed b`);
  const earlier = await show('s', '--at', String((second?.seq ?? 0) - 1));
  expect(earlier.stdout).toMatch(/✗ b {2}Break · work · It broke\./);
  expect(jsonLines((await show('s', '--json')).stdout)).toMatchObject([
    { name: 'trip', status: 'completed', criticalPath: ['a', 'b'] },
  ]);
  expect((await show('none')).stdout).toContain('There is no plan in this session.');
  expect(await show('s', '--tree')).toMatchObject({ code: 2 });
});
