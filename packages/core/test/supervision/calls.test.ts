import {
  agent,
  memoryStore,
  runtime,
  ToolFailure,
  type ToolOptions,
  tool,
  toolResult,
} from 'adjutant';
import type { Guardrail } from 'adjutant/guardrails';
import {
  advanceTime,
  eventually,
  keptOpen,
  model,
  runTest,
  scriptedModel,
  type TestStep,
  testClock,
  user,
} from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { asks, type Options, results, worker, working } from './worker.ts';

describe('guardrails of tool calls', () => {
  const guard = (toolCall: Guardrail['toolCall']): Guardrail => ({
    name: 'careful',
    ...(toolCall === undefined ? {} : { toolCall }),
  });
  const on = (...guardrails: Guardrail[]) => ({ supervision: { guardrails } });

  test('that deny refuse the call, with a decision in the same append', async () => {
    const { tool: write, seen } = working();
    const careful = guard(({ args }) => ({
      action: 'deny',
      message: `not ${(args as { page: string }).page}`,
    }));
    const { events } = await runTest(worker([write], on(careful)), [
      user('Go'),
      asks('write'),
      model('done'),
    ]);
    expect(seen).toEqual([]);
    expect(results(events)).toMatchObject([
      {
        attempt: 0,
        result: { status: 'error_blocked', errorType: 'guardrail_denied', content: 'not a' },
      },
    ]);
    expect(explain(events, { components: ['guardrail'] })).toMatchObject([
      { decision: 'deny', data: { guardrail: 'careful', callId: results(events)[0]?.callId } },
    ]);
  });

  test('that change arguments change them for every attempt, and say so once', async () => {
    const { tool: write, seen } = working((times) =>
      times < 3 ? toolResult.transient('busy') : 'written',
    );
    const careful = guard(({ args }) => ({
      action: 'transform',
      value: { ...(args as object), page: 'b' },
    }));
    const { events } = await runTest(worker([write], on(careful)), [
      user('Go'),
      asks('write'),
      advanceTime(10_000),
      model('done'),
    ]);
    expect(seen).toEqual([{ page: 'b' }, { page: 'b' }, { page: 'b' }]);
    expect(explain(events, { components: ['guardrail'] }).map(({ decision }) => decision)).toEqual([
      'transform',
    ]);
  });

  test('that guide are read with the result, also after an attempt more', async () => {
    const { tool: write } = working((times) =>
      times === 1 ? toolResult.transient('busy') : 'written',
    );
    const { events, calls } = await runTest(
      worker([write], on(guard(() => ({ action: 'guide', message: 'Write less.' })))),
      [user('Go'), asks('write'), advanceTime(10_000), model('done')],
    );
    expect(results(events).at(-1)?.notes).toMatchObject(['Write less.']);
    expect(JSON.stringify(calls[1]?.prompt)).toContain('Write less.');
  });

  test('that want a confirmation ask once; what was allowed is run as it was shown', async () => {
    const clock = testClock();
    const app = runtime({
      app: 'asking',
      store: keptOpen(memoryStore({ clock })),
      ports: { clock },
    });
    const { tool: write, seen } = working((times) =>
      times === 1 ? toolResult.transient('busy') : 'written',
    );
    const more: Guardrail = {
      name: 'more',
      toolCall: ({ args }) => ({
        action: 'transform',
        value: { times: ((args as { times?: number }).times ?? 0) + 1 },
      }),
    };
    const careful = guard(() => ({ action: 'confirm', summary: 'This overwrites a page.' }));
    const model = scriptedModel([
      { toolCalls: [{ name: 'write', args: { page: 'a' } }] },
      { text: 'done' },
    ]);
    const worker = agent({
      name: 'worker',
      model,
      tools: [write],
      supervision: { guardrails: [more, careful] },
    });
    const asked = await eventually(app.run(worker, 'Go'), { clock });
    expect(asked.pendingApprovals).toMatchObject([
      {
        args: { times: 1 },
        request: { summary: expect.stringContaining('This overwrites a page.') },
      },
    ]);
    await app.requests.approve(asked.pendingApprovals[0]?.requestId ?? '');
    const { session, output } = await eventually(app.resume(asked.session), { clock });
    expect(output).toBe('done');
    expect(seen).toEqual([{ times: 1 }, { times: 1 }]);
    expect(session.events.filter((event) => event.type === 'tool_yield')).toHaveLength(1);
    expect(
      explain(session.events, { components: ['guardrail'] }).map(({ decision }) => decision),
    ).toEqual(['transform', 'confirm']);
  });

  test('look again at arguments that a person edited', async () => {
    const clock = testClock();
    const app = runtime({ app: 'asking', ports: { clock } });
    const { tool: write, seen } = working(undefined, { approval: true });
    const careful = guard(({ args }) =>
      (args as { page: string }).page === 'b' ? { action: 'deny', message: 'not b' } : undefined,
    );
    const model = scriptedModel([
      { toolCalls: [{ name: 'write', args: { page: 'a' } }] },
      { text: 'done' },
    ]);
    const asked = await eventually(
      app.run(agent({ name: 'worker', model, tools: [write], ...on(careful) }), 'Go'),
      { clock },
    );
    await app.requests.edit(asked.pendingApprovals[0]?.requestId ?? '', { page: 'b' });
    const { session } = await eventually(app.resume(asked.session), { clock });
    expect(seen).toEqual([]);
    expect(results(session.events)).toMatchObject([
      { result: { errorType: 'guardrail_denied', content: 'not b' } },
    ]);
  });

  test('of results: refuse them, change them, and are noted', async () => {
    const { tool: write } = working(() => 'secret');
    const redact: Guardrail = {
      name: 'redact',
      toolResult: () => ({ action: 'transform', value: '[redacted]' }),
    };
    const changed = await runTest(worker([write], on(redact)), [
      user('Go'),
      asks('write'),
      model('done'),
    ]);
    expect(results(changed.events)).toMatchObject([
      { result: { status: 'success', content: '[redacted]' } },
    ]);
    const deny: Guardrail = {
      name: 'deny',
      toolResult: () => ({ action: 'deny', message: 'not for the model' }),
    };
    const denied = await runTest(
      worker([working(() => 'secret', { readOnly: true }).tool], on(deny)),
      [user('Go'), asks('write'), model('done')],
    );
    expect(results(denied.events)).toMatchObject([
      { result: { errorType: 'guardrail_denied', content: 'not for the model' } },
    ]);
    expect(JSON.stringify(denied.prompts)).not.toContain('secret');
  });
});

describe('calls that are not allowed, made again and again', () => {
  test.each<[string, Options, object]>([
    ['permission_denied', { requiresPermission: ['fs:write'] }, {}],
    [
      'guardrail_denied',
      {},
      {
        supervision: {
          guardrails: [{ name: 'no', toolCall: () => ({ action: 'deny', message: 'no' }) }],
        },
      },
    ],
    ['hook_refused', {}, { hooks: { beforeTool: () => ({ error: 'no' }) } }],
  ])('%s', async (errorType, options, more) => {
    const { events, result } = await runTest(worker([working(undefined, options).tool], more), [
      user('Go'),
      ...Array<TestStep>(3).fill(asks('write')),
      model('done'),
    ]);
    expect(results(events).map(({ result: { errorType: type } }) => type)).toMatchObject([
      errorType,
      'loop_blocked',
      'loop_blocked',
    ]);
    expect(result).toMatchObject({ status: 'completed', stopReason: 'loop' });
  });
});

describe('classify', () => {
  class VaultError extends Error {}
  const vault = (classify: ToolOptions<unknown, unknown, unknown, never>['classify']) =>
    working(
      () => {
        throw new VaultError('E4711');
      },
      classify === undefined ? {} : { classify },
    ).tool;

  test.each<[string, (thrown: unknown) => unknown, object]>([
    [
      'a failure',
      () => new ToolFailure('The vault is locked.', { errorType: 'locked' }),
      { errorType: 'locked', content: 'The vault is locked.' },
    ],
    [
      'a result',
      () => toolResult.blocked('No.', { errorType: 'locked' }),
      { status: 'error_blocked', errorType: 'locked', content: 'No.' },
    ],
    ['nothing', () => undefined, { errorType: 'tool_error', content: 'E4711' }],
    ['what is neither', () => ({ a: 1 }), { errorType: 'tool_error', content: 'E4711' }],
  ])('may give %s', async (_what, classify, expected) => {
    const { events } = await runTest(worker([vault(classify as never)]), [
      user('Go'),
      asks('write'),
      model('done'),
    ]);
    expect(results(events)[0]?.result).toMatchObject(expected);
  });

  test('that throws itself has said nothing', async () => {
    const own = () => {
      throw new Error('broken');
    };
    const { events } = await runTest(worker([vault(own)]), [
      user('Go'),
      asks('write'),
      model('done'),
    ]);
    expect(results(events)[0]?.result).toMatchObject({ errorType: 'tool_error', content: 'E4711' });
  });

  test('says what is known of the effect', async () => {
    const { events } = await runTest(
      worker([
        vault(() => new ToolFailure('Perhaps.', { errorType: 'locked', effect: 'unknown' })),
      ]),
      [user('Go'), asks('write'), model('done')],
    );
    expect(results(events)).toMatchObject([{ effect: 'unknown', result: { status: 'unknown' } }]);
  });
});

describe('options of tools that cannot be', () => {
  test.each<[Options, string]>([
    [{ fallback: '' }, '`fallback` must be'],
    [{ fallback: { tool: 'x', map: 1 } as never }, '`fallback` must be'],
    [{ fallback: {} as never }, '`fallback` must be'],
    [{ fallback: 'write' }, '`fallback` names the tool itself'],
    [{ requiresPermission: 'fs:write' as never }, '`requiresPermission` must be'],
    [{ requiresPermission: ['fs:*'] }, '`requiresPermission` must be'],
    [{ check: { empty: 1 } as never }, '`check` must be'],
    [{ classify: 1 as never }, '`classify` must be'],
  ])('%j', (options, message) => {
    expect(() => working(undefined, options)).toThrow(message);
  });

  test('a definition may be the beginning of another one', () => {
    const first = working(undefined, {
      fallback: 'other',
      requiresPermission: ['a'],
      check: { empty: false },
      classify: () => undefined,
    }).tool;
    const second = tool({
      ...(first as object as ToolOptions<unknown, unknown, unknown, never>),
      name: 'second',
    });
    expect(second).toMatchObject({
      fallback: { tool: 'other' },
      requiresPermission: ['a'],
      check: { empty: false },
    });
    expect(Object.isFrozen(second.fallback)).toBe(true);
    expect(second.retry).toBeUndefined();
  });
});
