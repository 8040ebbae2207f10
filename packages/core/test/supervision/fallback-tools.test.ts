import { tool, toolResult } from 'adjutant';
import { advanceTime, approve, crash, meanwhile, model, runTest, user } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { againAfter, closed, hinted, plain, succeeded, thenTool } from '../result-patterns.ts';
import { asks, failing, http, type Options, results, worker } from './failing-tool.ts';

describe('a fallback tool', () => {
  const archive = (
    execute: (args: unknown) => unknown = () => 'from the archive',
    more: Options = {},
  ) =>
    tool({
      name: 'archive',
      description: 'Old pages',
      schema: z.object({ url: z.string() }),
      execute: ({ args }) => execute(args),
      ...(more as object),
    });
  const args = (given: unknown) => ({ url: `archive:${(given as { page: string }).page}` });
  const straight = {
    supervision: { errors: { chains: { http_403: ['fallbackTool', 'report'] as const } } },
  };
  const blocked = (more: Options = {}) =>
    failing(() => http(403), { fallback: { tool: 'archive', args }, ...more });

  test(
    'is run when the chain comes to it; its result is that of the call that was ' + 'asked for',
    async () => {
      const seen: unknown[] = [];
      const old = archive((given) => {
        seen.push(given);
        return 'old page';
      });
      const { events } = await runTest(worker([blocked(), old]), [
        user('Go'),
        ...asks('fetch'),
        ...asks('fetch'),
        model('done'),
      ]);
      expect(results(events)).toMatchObject([hinted, thenTool('archive'), succeeded]);
      expect(seen).toEqual([{ url: 'archive:a' }]);
      expect(
        events
          .filter((event) => event.type === 'tool_attempt')
          .map(({ tool: name, attempt }) => [name, attempt]),
      ).toEqual([
        [undefined, 1],
        [undefined, 1],
        ['archive', 2],
      ]);
      expect(results(events).at(-1)).toMatchObject({
        name: 'fetch',
        settled: true,
        result: { content: 'old page' },
      });
      const keys = events.filter((event) => event.type === 'tool_attempt').map(({ key }) => key);
      expect(new Set(keys).size).toBe(3);
    },
  );

  test('that fails too goes by its own chain, and by its own retries', async () => {
    const old = archive(() => Promise.reject(http(404)));
    const { events } = await runTest(worker([blocked(), old]), [
      user('Go'),
      ...asks('fetch'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(events)).toMatchObject([hinted, thenTool('archive'), hinted]);
    expect(explain(events, { components: ['error_router'] }).at(-1)).toMatchObject({
      decision: 'hint',
      data: { tool: 'archive', errorType: 'http_404' },
    });
    let runs = 0;
    const flaky = archive(() => (++runs < 3 ? toolResult.transient('busy') : 'got it'), {
      retry: { initialDelayMs: 5, multiplier: 1 },
    });
    const retried = await runTest(worker([blocked(), flaky]), [
      user('Go'),
      ...asks('fetch'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(retried.events)).toMatchObject([
      hinted,
      thenTool('archive'),
      againAfter(5),
      againAfter(5),
      succeeded,
    ]);
  });

  test(
    'that is not there is passed over; one whose arguments do not fit leaves the failure as ' +
      'it was',
    async () => {
      const alone = await runTest(worker([blocked()]), [
        user('Go'),
        ...asks('fetch'),
        ...asks('fetch'),
        model('done'),
      ]);
      expect(results(alone.events)).toMatchObject([hinted, closed]);
      const misfit = await runTest(
        worker([failing(() => http(403), { fallback: 'archive' }), archive()]),
        [user('Go'), ...asks('fetch'), ...asks('fetch'), model('done')],
      );
      expect(results(misfit.events)).toMatchObject([hinted, thenTool('archive'), hinted]);
      expect(results(misfit.events).at(-1)).toMatchObject({
        attempt: 0,
        result: { errorType: 'http_403' },
      });
      expect(explain(misfit.events, { components: ['error_router'] }).at(-1)).toMatchObject({
        decision: 'report',
        why: expect.stringContaining('do not fit'),
      });
    },
  );

  test('asks for its own approval, and needs its own permissions', async () => {
    const asked = await runTest(worker([blocked(), archive(undefined, { approval: true })]), [
      user('Go'),
      ...asks('fetch'),
      ...asks('fetch'),
    ]);
    expect(asked.result).toMatchObject({
      status: 'yielded',
      pendingApprovals: [{ name: 'archive', args: { url: 'archive:a' } }],
    });
    const denied = await runTest(
      worker([blocked(), archive(undefined, { requiresPermission: ['archive:read'] })]),
      [user('Go'), ...asks('fetch'), ...asks('fetch'), model('done')],
    );
    expect(results(denied.events).at(-1)).toMatchObject({
      result: { errorType: 'permission_denied' },
    });
    const reading = archive(undefined, { requiresPermission: ['archive:read'] });
    const steps = [user('Go'), ...asks('fetch'), ...asks('fetch'), model('done')];
    const allowed = await runTest(worker([blocked(), reading]), steps, {
      runtime: { permissions: ['archive:*'] },
    });
    expect(results(allowed.events).at(-1)).toMatchObject(succeeded);
  });

  test(
    'an approval of the tool that was asked for is none for the tool that ' + 'stands in',
    async () => {
      const page = blocked({ approval: true });
      const run = await runTest(worker([page, archive(undefined, { approval: true })], straight), [
        user('Go'),
        ...asks('fetch'),
        approve('fetch'),
        meanwhile(({ pending }) =>
          expect(pending).toMatchObject([{ name: 'archive', args: { url: 'archive:a' } }]),
        ),
        approve('archive'),
        model('done'),
      ]);
      expect(run.output).toBe('done');
      expect(results(run.events)).toMatchObject([thenTool('archive'), succeeded]);
      expect(page.runs).toEqual([1]);
    },
  );

  test.each<['rerun' | 'report', number, object]>([
    ['rerun', 2, succeeded],
    ['report', 1, plain],
  ])(
    'a restart in its attempt goes on with it, by its own recovery: %s',
    async (recovery, times, end) => {
      let entered = 0;
      const old = archive(
        () => {
          entered++;
          return 'old page';
        },
        { recovery },
      );
      const page = blocked();
      const steps = [
        user('Go'),
        ...asks('fetch'),
        crash({ after: 'archive' }),
        advanceTime(8_000),
        model('done'),
      ];
      const { events } = await runTest(worker([page, old], straight), steps);
      expect(page.runs).toEqual([1]);
      expect(entered).toBe(times);
      expect(results(events).at(-1)).toMatchObject(end);
      const attempts = events.filter((event) => event.type === 'tool_attempt');
      expect(attempts.map(({ tool: name }) => name)).toEqual([
        undefined,
        ...Array(times).fill('archive'),
      ]);
    },
  );
});
