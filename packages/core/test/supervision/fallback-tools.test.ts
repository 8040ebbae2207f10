import { ToolFailure, tool, toolResult } from 'adjutant';
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
  /** An archive that counts its runs. */
  const counted = () => {
    let runs = 0;
    return { tool: archive(() => ++runs), runs: () => runs };
  };
  const args = (given: unknown) => ({ url: `archive:${(given as { page: string }).page}` });
  const blocked = (more: Options = {}) =>
    failing(() => http(403), { fallback: { tool: 'archive', args }, ...more });

  test('is run before the model is told; its result is that of the call', async () => {
    const seen: unknown[] = [];
    const old = archive((given) => {
      seen.push(given);
      return 'old page';
    });
    const { events } = await runTest(worker([blocked(), old]), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(events)).toMatchObject([thenTool('archive'), succeeded]);
    expect(seen).toEqual([{ url: 'archive:a' }]);
    expect(
      events
        .filter((event) => event.type === 'tool_attempt')
        .map(({ tool: name, attempt }) => [name, attempt]),
    ).toEqual([
      [undefined, 1],
      ['archive', 2],
    ]);
    expect(results(events).at(-1)).toMatchObject({
      name: 'fetch',
      settled: true,
      result: { content: 'old page' },
    });
    const keys = events.filter((event) => event.type === 'tool_attempt').map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
  });

  test('that fails too goes by its own chain, and by its own retries', async () => {
    const old = archive(() => Promise.reject(http(404)));
    const { events } = await runTest(worker([blocked(), old]), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(events)).toMatchObject([thenTool('archive'), hinted]);
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
      model('done'),
    ]);
    expect(results(retried.events)).toMatchObject([
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
        [user('Go'), ...asks('fetch'), model('done')],
      );
      expect(results(misfit.events)).toMatchObject([thenTool('archive'), hinted]);
      expect(results(misfit.events).at(-1)).toMatchObject({
        attempt: 0,
        result: { errorType: 'http_403' },
        notes: [
          expect.stringContaining('could not be run in its place'),
          expect.stringContaining('The server refuses this request.'),
        ],
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
    ]);
    expect(asked.result).toMatchObject({
      status: 'yielded',
      pendingApprovals: [{ name: 'archive', args: { url: 'archive:a' } }],
    });
    const denied = await runTest(
      worker([blocked(), archive(undefined, { requiresPermission: ['archive:read'] })]),
      [user('Go'), ...asks('fetch'), model('done')],
    );
    expect(results(denied.events).at(-1)).toMatchObject({
      result: { errorType: 'permission_denied' },
    });
    const reading = archive(undefined, { requiresPermission: ['archive:read'] });
    const steps = [user('Go'), ...asks('fetch'), model('done')];
    const allowed = await runTest(worker([blocked(), reading]), steps, {
      runtime: { permissions: ['archive:*'] },
    });
    expect(results(allowed.events).at(-1)).toMatchObject(succeeded);
  });

  test.each<[string, () => unknown, readonly object[]]>([
    ['a plain error', () => new Error('boom'), []],
    ['404', () => http(404), []],
    ['403', () => http(403), []],
    ['500', () => http(500), [againAfter(1_000), againAfter(2_000)]],
    [
      'ECONNREFUSED',
      () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
      [againAfter(1_000), againAfter(2_000)],
    ],
    ['429', () => http(429), [againAfter(1_000)]],
    [
      'a time limit',
      () => Object.assign(new Error('slow'), { code: 'ETIMEDOUT' }),
      [againAfter(0)],
    ],
    ['a word of its own', () => toolResult.permanent('no', { errorType: 'out_of_stock' }), []],
  ])('is run after %s, in the same call, when nothing else is left', async (_name, how, tries) => {
    const page = failing(how, { readOnly: true, fallback: { tool: 'archive', args } });
    const { events } = await runTest(worker([page, archive()]), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(events)).toMatchObject([...tries, thenTool('archive'), succeeded]);
    expect(page.runs).toHaveLength(tries.length + 1);
    expect(results(events).at(-1)?.result.content).toBe('from the archive');
  });

  test.each<[string, () => unknown]>([
    ['500', () => http(500)],
    ['a lost connection', () => Object.assign(new Error('reset'), { code: 'ECONNRESET' })],
    ['a time limit', () => Object.assign(new Error('slow'), { code: 'ETIMEDOUT' })],
    [
      'a failure that says so',
      () => new ToolFailure('Sent?', { errorType: 'x', effect: 'unknown' }),
    ],
  ])('is not run after %s of a tool that may have had an effect', async (_name, how) => {
    const mail = failing(how, { fallback: { tool: 'archive', args } });
    const other = counted();
    const { events } = await runTest(worker([mail, other.tool]), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(other.runs()).toBe(0);
    expect(mail.runs).toEqual([1]);
    expect(results(events)).toHaveLength(1);
    expect(results(events)[0]).toMatchObject({ settled: true });
  });

  test('is run after the retries of the tool itself', async () => {
    const page = failing(() => http(503), {
      readOnly: true,
      retry: { attempts: 3, initialDelayMs: 5, multiplier: 1 },
      fallback: { tool: 'archive', args },
    });
    const { events } = await runTest(worker([page, archive()]), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(events)).toMatchObject([
      ...page.runs.slice(1).map(() => againAfter(5)),
      thenTool('archive'),
      succeeded,
    ]);
    expect(page.runs.length).toBeGreaterThan(1);
  });

  test('is run for a call with changing failures when its attempts are used up', async () => {
    let runs = 0;
    const page = failing(() => http(++runs % 2 === 0 ? 503 : 502), {
      readOnly: true,
      fallback: { tool: 'archive', args },
    });
    const { events } = await runTest(
      worker([page, archive()], { supervision: { circuitBreaker: false } }),
      [user('Go'), ...asks('fetch'), model('done')],
    );
    expect(results(events).at(-1)).toMatchObject(succeeded);
    expect(page.runs).toHaveLength(6);
  });

  test('is run in the place of a tool with chains that do not name it', async () => {
    const chains = { default: ['report'] as const };
    const page = failing(() => http(404), { fallback: { tool: 'archive', args } });
    const { events } = await runTest(
      worker([page, archive()], { supervision: { errors: { chains } } }),
      [user('Go'), ...asks('fetch'), model('done')],
    );
    expect(results(events)).toMatchObject([thenTool('archive'), succeeded]);
  });

  test('is not run for wrong arguments, and not for a call that was not permitted', async () => {
    const other = counted();
    const strict = (more: object) =>
      tool({
        name: 'fetch',
        description: 'x',
        schema: z.object({ page: z.string() }),
        fallback: { tool: 'archive', args: ({ page }) => ({ url: page }) },
        execute: () => 'page',
        ...more,
      });
    const wrong = await runTest(worker([strict({}), other.tool]), [
      user('Go'),
      ...asks('fetch', { page: 1 }),
      ...asks('fetch', { page: 1 }),
      model('done'),
    ]);
    expect(results(wrong.events)).toMatchObject([hinted, closed]);
    const secret = strict({ requiresPermission: ['pages:read'] });
    const denied = await runTest(worker([secret, other.tool]), [
      user('Go'),
      ...asks('fetch'),
      model('done'),
    ]);
    expect(results(denied.events)).toMatchObject([
      { settled: true, result: { errorType: 'permission_denied' } },
    ]);
    expect(other.runs()).toBe(0);
  });

  test(
    'an approval of the tool that was asked for is none for the tool that ' + 'stands in',
    async () => {
      const page = blocked({ approval: true });
      const run = await runTest(worker([page, archive(undefined, { approval: true })]), [
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
      const { events } = await runTest(worker([page, old]), steps);
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
