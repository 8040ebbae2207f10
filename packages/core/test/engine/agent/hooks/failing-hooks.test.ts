import { describe, expect, test } from 'vitest';
import {
  type AgentOptions,
  agent,
  type Event,
  type EventOf,
  type EventType,
  runtime,
  tool,
} from '../../../../src/index.ts';
import { scriptedModel } from '../../../../src/testing/kit/scripted-model.ts';

const eventsOf = <Type extends EventType>(
  events: readonly Event[],
  type: Type,
): readonly EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

const fails = () => {
  throw new Error('it broke');
};
const refused = { error: Object.assign(new Error('invalid_api_key'), { statusCode: 401 }) };

async function run(response: object, more: Partial<AgentOptions>) {
  const helper = agent({ name: 'helper', model: scriptedModel([response]), ...more });
  const result = await runtime({ app: 'test' }).run(helper, 'go');
  return { result, events: result.session.events };
}

describe('a hook that fails when the model has been asked', () => {
  test.each([
    [
      'afterModel',
      { text: 'paid for', usage: { inputTokens: 100, outputTokens: 20 } },
      { hooks: { afterModel: fails } },
      120,
    ],
    ['onModelError', refused, { hooks: { onModelError: fails } }, 0],
    ['an error handler', refused, { errorHandlers: [{ name: 'broken', handle: fails }] }, 0],
    ['beforeCall', { text: 'never' }, { middleware: [{ name: 'broken', beforeCall: fails }] }, 0],
  ])(
    '%s ends the agent, and the call has an end that says what it used',
    async (_hook, response, more, tokens) => {
      const { result, events } = await run(response, more);
      expect(result).toMatchObject({ status: 'error', error: { code: 'hook_failed' } });
      expect(eventsOf(events, 'model_end')).toMatchObject([
        { status: 'error', error: { code: 'hook_failed' } },
      ]);
      const [end] = eventsOf(events, 'model_end');
      expect((end?.usage.inputTokens ?? 0) + (end?.usage.outputTokens ?? 0)).toBe(tokens);
      expect(eventsOf(events, 'decision')).toMatchObject([
        { component: 'hooks', decision: 'failed' },
      ]);
    },
  );

  test.each([
    ['beforeModel', { text: 'hi' }],
    ['afterModel', { text: 'hi' }],
    ['onModelError', refused],
  ])('%s that gives null says what was expected', async (hook, response) => {
    const { result } = await run(response, { hooks: { [hook]: () => null } as never });
    expect(result).toMatchObject({
      status: 'error',
      error: { code: 'hook_failed', data: { hook } },
    });
  });
});

test.each([
  ['throw', 'error'],
  ['abort', 'cancelled'],
] as const)(
  '%s of an error handler is the last word: onModelError is not asked, and the ledger says ' +
    'who ended it',
  async (action, status) => {
    let isAsked = false;
    const onModelError = () => {
      isAsked = true;
      return 'sorry';
    };
    const { result, events } = await run(refused, {
      hooks: { onModelError },
      errorHandlers: [{ name: 'strict', handle: () => ({ action }) }],
    });
    expect(result.status).toBe(status);
    expect(isAsked).toBe(false);
    expect(eventsOf(events, 'decision')).toMatchObject([
      { component: 'error_handler', decision: action },
    ]);
  },
);

test(
  'a circuit that opens is in the ledger also when nobody could find out what became of the ' +
    'call',
  async () => {
    const model = scriptedModel((_prompt, call) =>
      call < 6 ? { toolCalls: [{ name: 'pay', args: { call } }] } : { text: 'done' },
    );
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: { type: 'object' },
      recovery: () => ({ happened: 'unknown' }),
      execute: () => {
        throw Object.assign(new Error('bad gateway'), { statusCode: 502 });
      },
    });
    const { session } = await runtime({ app: 'test' }).run(
      agent({ name: 'payer', model, tools: [pay] }),
      'go',
    );
    const changes = eventsOf(session.events, 'decision').filter(
      ({ component }) => component === 'circuit_breaker',
    );
    expect(changes.map(({ decision }) => decision)).toEqual(['open', 'refuse']);
  },
);

test('an error handler that wants one attempt more for ever is not heard for ever', async () => {
  let asked = 0;
  const model = scriptedModel(() => {
    asked += 1;
    return refused;
  });
  const stubborn = agent({
    name: 'stubborn',
    model,
    errorHandlers: [{ name: 'again', handle: () => ({ action: 'retry', delayMs: 0 }) }],
  });
  const { status, error } = await runtime({ app: 'test' }).run(stubborn, 'go');
  expect({ status, code: error?.code, asked }).toEqual({
    status: 'error',
    code: 'model_auth',
    asked: 100,
  });
});

test.each([
  ['a bigint', 12n, '"12"'],
  ['a function', () => 1, '"() => 1"'],
  ['nothing', undefined, 'null'],
])(
  'an error handler that gives %s as the answer of a model gives a text',
  async (_what, given, output) => {
    const { result } = await run(refused, {
      errorHandlers: [{ name: 'odd', handle: () => ({ action: 'fallback', result: given }) }],
    });
    expect(result).toMatchObject({ status: 'completed', output });
  },
);
