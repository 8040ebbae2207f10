import { type JsonValue, pending, ToolFailure, tool, toolResult } from 'adjutant';
import { callTool } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const schema = z.object({ a: z.number(), b: z.number().default(2) });
const add = tool({
  name: 'add',
  description: 'Adds',
  schema,
  execute: ({ args }) => args.a + args.b,
});
const plain = (execute: Parameters<typeof tool>[0]['execute'] & object, more: object = {}) =>
  tool({ name: 'plain', description: 'Plain', schema: z.object({}), execute, ...more } as never);

describe('callTool', () => {
  test('gives what the tool gives, with arguments as the schema makes them', async () => {
    expect(await callTool(add, { a: 1 })).toMatchObject({ status: 'success', content: 3 });
    expect(await callTool(add, '{"a":1,"b":5}')).toMatchObject({ status: 'success', content: 6 });
  });

  test.each<[string, JsonValue]>([
    ['a wrong type', { a: 'one' }],
    ['nothing', {}],
    ['no object', [1, 2]],
    ['no JSON at all', 'not { JSON'],
  ])('arguments that do not fit are refused before the tool runs: %s', async (_what, args) => {
    expect(await callTool(add, args)).toMatchObject({
      status: 'error_permanent',
      errorType: 'validation_error',
    });
  });

  test('what is thrown is classified, and nothing is tried again', async () => {
    let runs = 0;
    const busy = plain(() => {
      runs++;
      throw Object.assign(new Error('busy'), { status: 429 });
    });
    expect(await callTool(busy, {})).toMatchObject({ errorType: 'http_429' });
    expect(runs).toBe(1);
    const failing = plain(() => {
      throw new ToolFailure('It is locked.', { errorType: 'locked' });
    });
    expect(await callTool(failing, {})).toMatchObject({
      errorType: 'locked',
      content: 'It is locked.',
    });
    expect(
      await callTool(
        plain(() => toolResult.blocked('No.')),
        {},
      ),
    ).toMatchObject({ status: 'error_blocked', content: 'No.' });
  });

  test('the context is that of a real call', async () => {
    const counting = plain((ctx) => {
      const { state } = ctx as { state: Record<string, number> };
      state['count'] = (state['count'] ?? 0) + 1;
      return state['count'];
    });
    expect(await callTool(counting, {}, { state: { count: 4 } })).toMatchObject({ content: 5 });
    const keyed = plain((ctx) => (ctx as { idempotencyKey: string }).idempotencyKey !== '');
    expect(await callTool(keyed, {})).toMatchObject({ content: true });
  });

  test('the signal that is given reaches the tool', async () => {
    const waiting = plain(
      (ctx) =>
        new Promise((_resolve, reject) => {
          const { signal, args } = ctx as { signal: AbortSignal; args: unknown };
          if (JSON.stringify(args) !== '{}') reject(new Error('it has no arguments'));
          if (signal.aborted) reject(signal.reason);
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      { readOnly: true },
    );
    expect(await callTool(waiting, {}, { signal: AbortSignal.abort() })).toMatchObject({
      errorType: 'aborted',
    });
    const controller = new AbortController();
    const calling = callTool(waiting, {}, { signal: controller.signal });
    controller.abort();
    expect(await calling).toMatchObject({ errorType: 'aborted' });
  });

  test('large results are given whole', async () => {
    const text = 'x'.repeat(500_000);
    expect(
      (
        await callTool(
          plain(() => text),
          {},
        )
      ).content,
    ).toBe(text);
  });

  test('what a tool requires it may do, unless it is said otherwise', async () => {
    const guarded = plain(() => 'written', { requiresPermission: ['fs:write'] });
    expect(await callTool(guarded, {})).toMatchObject({ content: 'written' });
    expect(await callTool(guarded, {}, { permissions: [] })).toMatchObject({
      errorType: 'permission_denied',
    });
  });

  test('a tool that waits for somebody gives no result, and that is said', async () => {
    const asks = callTool(
      plain(() => 'done', { approval: true }),
      {},
    );
    await expect(asks).rejects.toMatchObject({
      code: 'no_tool_result',
      message: expect.stringContaining('it waits for its approval'),
    });
    await expect(
      callTool(
        plain(() => pending({ operationId: 'o' })),
        {},
      ),
    ).rejects.toMatchObject({ code: 'no_tool_result' });
  });

  test('what cannot be meant is refused', async () => {
    await expect(callTool(add, { a: Number.NaN })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('$.a is NaN'),
    });
    await expect(
      callTool(add, {}, { sginal: AbortSignal.abort() } as object),
    ).rejects.toMatchObject({ code: 'invalid_option' });
    await expect(callTool(add, {}, { signal: true as never })).rejects.toThrow(
      /`signal` must be an AbortSignal/,
    );
  });
});
