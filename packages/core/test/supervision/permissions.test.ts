import { model, runTest, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { asks, failing, results, worker } from './failing-tool.ts';

describe('permissions', () => {
  const guarded = () => failing(() => 'written', { requiresPermission: ['fs:write', 'fs:read'] });

  test(
    'that are missing refuse the call before anything else, with a decision; those that are ' +
      'there do not',
    async () => {
      const refused = guarded();
      const { events } = await runTest(
        worker([refused]),
        [user('Go'), ...asks('fetch'), model('done')],
        { runtime: { permissions: ['fs:read'] } },
      );
      expect(refused.runs).toEqual([]);
      expect(results(events)).toMatchObject([
        { attempt: 0, result: { status: 'error_blocked', errorType: 'permission_denied' } },
      ]);
      expect(explain(events, { components: ['permissions'] })).toMatchObject([
        { decision: 'refuse', data: { tool: 'fetch', missing: ['fs:write'] } },
      ]);
      const allowed = guarded();
      await runTest(worker([allowed]), [user('Go'), ...asks('fetch'), model('done')], {
        runtime: { permissions: ['fs:*'] },
      });
      expect(allowed.runs).toEqual([1]);
    },
  );

  test('hold also where supervision is off', async () => {
    const refused = guarded();
    await runTest(worker([refused], { supervision: false }), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(refused.runs).toEqual([]);
  });
});
