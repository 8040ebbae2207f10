import { expect, test } from 'vitest';
import { secret } from '../base/secret.ts';
import type { HookContext, ModelResult } from '../runnables/hooks.ts';
import { type LogEntry, type LoggingMiddlewareOptions, loggingMiddleware } from './logging.ts';

const ctx = {
  session: { id: 's', app: 'a' },
  invocationId: 'run',
  agent: 'ann',
  round: 2,
  now: () => 1_000,
} as HookContext;
const call = { callId: 'run/r2.0', name: 'send', args: { text: 'hunter2' }, attempt: 1 };
const failed = {
  status: 'error_permanent',
  errorType: 'http_404',
  content: 'hunter2',
  detail: 'hunter2',
} as const;
const result: ModelResult = {
  stepEvents: [
    { type: 'assistant', text: 'hunter2' },
    { type: 'tool_call', name: 'send', args: { text: 'hunter2' } },
  ],
  usage: { inputTokens: 1, outputTokens: 2 },
  finishReason: 'tool-calls',
};

/** All that is logged of a round. */
function logged(options: LoggingMiddlewareOptions = {}): readonly LogEntry[] {
  const entries: LogEntry[] = [];
  const middleware = loggingMiddleware({ onLog: (entry) => void entries.push(entry), ...options });
  const returned = [
    middleware.beforeAgent?.(ctx),
    middleware.beforeModel?.(ctx, {} as never),
    middleware.beforeCall?.(ctx, {
      model: 'p:m',
      options: { prompt: [{ role: 'system', content: 'hunter2' }] },
    }),
    middleware.afterModel?.(ctx, result),
    middleware.beforeTool?.(ctx, call),
    middleware.onToolError?.(ctx, call, failed),
    middleware.afterTool?.(ctx, call, failed),
    middleware.onModelError?.(ctx, Object.assign(new Error('hunter2'), { code: 'model_auth' })),
    middleware.afterAgent?.(ctx, 'hunter2'),
  ];
  expect(returned.every((one) => one === undefined)).toBe(true);
  return entries;
}

test('each point of the work has an entry, with names and codes only', () => {
  const entries = logged({ level: 'debug' });
  expect(entries.map(({ point, level, data }) => [point, level, data])).toEqual([
    ['beforeAgent', 'info', {}],
    ['beforeModel', 'debug', {}],
    ['beforeCall', 'debug', { model: 'p:m', messages: 1 }],
    [
      'afterModel',
      'info',
      { tools: ['send'], usage: { inputTokens: 1, outputTokens: 2 }, finishReason: 'tool-calls' },
    ],
    ['beforeTool', 'info', { call: 'run/r2.0', tool: 'send', attempt: 1 }],
    [
      'onToolError',
      'warn',
      {
        call: 'run/r2.0',
        tool: 'send',
        attempt: 1,
        status: 'error_permanent',
        errorType: 'http_404',
      },
    ],
    [
      'afterTool',
      'info',
      {
        call: 'run/r2.0',
        tool: 'send',
        attempt: 1,
        status: 'error_permanent',
        errorType: 'http_404',
      },
    ],
    ['onModelError', 'error', { code: 'model_auth' }],
    ['afterAgent', 'info', {}],
  ]);
  expect(entries[0]).toEqual({
    level: 'info',
    at: 1_000,
    point: 'beforeAgent',
    message: 'The agent begins.',
    session: 's',
    invocation: 'run',
    agent: 'ann',
    round: 2,
    data: {},
  });
  expect(JSON.stringify(entries)).not.toContain('hunter2');
});

test.each([
  ['info', 7],
  ['warn', 2],
  ['error', 1],
] as const)('from %s on there are %i', (level, count) => {
  expect(logged({ level })).toHaveLength(count);
});

test('values are logged when they are asked for, and secrets never', () => {
  const entries = logged({ level: 'debug', values: true });
  const withValues = entries
    .filter((entry) => JSON.stringify(entry).includes('hunter2'))
    .map(({ point }) => point);
  expect(withValues).toEqual([
    'beforeCall',
    'afterModel',
    'beforeTool',
    'onToolError',
    'afterTool',
    'onModelError',
    'afterAgent',
  ]);
  const seen: LogEntry[] = [];
  const middleware = loggingMiddleware({ values: true, onLog: (entry) => void seen.push(entry) });
  middleware.beforeTool?.(ctx, { ...call, args: { key: secret('API_KEY', 'sk-123') } as never });
  expect(seen[0]?.data).toMatchObject({ args: { key: { $secret: 'API_KEY' } } });
});

test('a log that throws does not end the work', () => {
  const middleware = loggingMiddleware({
    onLog: () => {
      throw new Error('disk full');
    },
  });
  expect(middleware.beforeAgent?.(ctx)).toBeUndefined();
});

test.each([{ level: 'all' }, { values: 1 }, { log: 1 }])('%j is refused', (options) => {
  expect(() => loggingMiddleware(options as never)).toThrow('loggingMiddleware() cannot be set up');
});
