import { describe, expect, test } from 'vitest';
import { testClock } from '../../../../src/base/clocks/test-clock.ts';
import { injectSystemMessage } from '../../../../src/context/index.ts';
import { agent, type ErrorAction, memoryStore, runtime, tool } from '../../../../src/index.ts';
import { eventually } from '../../../../src/testing/kit/eventually.ts';
import {
  type ScriptedResponses,
  scriptedModel,
} from '../../../../src/testing/kit/scripted-model.ts';
import { calls, decisions, echo, eventsOf, says } from './hooked-agent.ts';

describe('error handlers of model calls', () => {
  const failing = { error: Object.assign(new Error('boom'), { statusCode: 500 }) };
  const handler = (action: ErrorAction) => ({ name: 'test', handle: () => action });

  async function handled(
    action: ErrorAction,
    responses: ScriptedResponses = [failing, says('fine')],
  ) {
    const model = scriptedModel(responses);
    const helper = agent({ name: 'helper', model, errorHandlers: [handler(action)] });
    return { result: await runtime({ app: 'test' }).run(helper, 'go'), model };
  }

  test('retry: another attempt at once, beyond what the model itself would do', async () => {
    const { result, model } = await handled({ action: 'retry' }, [
      failing,
      failing,
      failing,
      failing,
      says('fine'),
    ]);
    expect(result.output).toBe('fine');
    expect(model.calls).toHaveLength(5);
    expect(decisions(result, 'error_handler')).toEqual(['retry', 'retry', 'retry', 'retry']);
  });

  test('fallback: its result is the answer', async () => {
    const { result } = await handled({ action: 'fallback', result: { error: 'Quota exceeded' } });
    expect(result).toMatchObject({ status: 'completed', output: '{"error":"Quota exceeded"}' });
  });

  test('throw: the agent ends with the error', async () => {
    const { result, model } = await handled({ action: 'throw' });
    expect(result).toMatchObject({ status: 'error', error: { code: 'model_server' } });
    expect(model.calls).toHaveLength(1);
  });

  test('abort: the run is cancelled', async () => {
    const { result } = await handled({ action: 'abort' });
    expect(result.status).toBe('cancelled');
  });

  test('those of the runtime are asked first; the first that does not pass decides', async () => {
    const asked: string[] = [];
    const passing = (name: string, action: ErrorAction) => ({
      name,
      handle: () => {
        asked.push(name);
        return action;
      },
    });
    const model = scriptedModel([failing]);
    const helper = agent({
      name: 'helper',
      model,
      errorHandlers: [passing('agent', { action: 'throw' }), passing('never', { action: 'pass' })],
    });
    const app = runtime({
      app: 'test',
      errorHandlers: [
        passing('runtime', { action: 'pass' }),
        { ...passing('picky', { action: 'throw' }), canHandle: () => false },
      ],
    });
    await app.run(helper, 'go');
    expect(asked).toEqual(['runtime', 'agent']);
  });
});

describe('models that cannot answer', () => {
  const refused = { error: Object.assign(new Error('invalid_api_key'), { statusCode: 401 }) };

  test(
    'the next model of the list is asked, with its own window and settings, and stays for ' +
      'the rounds that follow',
    async () => {
      const first = scriptedModel([refused], { modelId: 'first' });
      const second = scriptedModel([calls('echo'), says('from the second')], { modelId: 'second' });
      const helper = agent({
        name: 'helper',
        model: [first, second],
        tools: [echo],
        context: [injectSystemMessage('Help.')],
      });
      const result = await runtime({ app: 'test' }).run(helper, 'go');
      expect(result.output).toBe('from the second');
      expect(first.calls).toHaveLength(1);
      expect(eventsOf(result, 'model_start').map(({ model }) => model)).toEqual([
        'scripted:first',
        'scripted:second',
        'scripted:second',
      ]);
      const [decision] = eventsOf(result, 'decision');
      expect(decision).toMatchObject({
        component: 'models',
        decision: 'fallback',
        data: { from: 'scripted:first', to: 'scripted:second', code: 'model_auth' },
      });
    },
  );

  test('when none is left, the agent fails with the last error', async () => {
    const helper = agent({
      name: 'helper',
      model: [scriptedModel([refused]), scriptedModel([refused])],
    });
    expect(await runtime({ app: 'test' }).run(helper, 'go')).toMatchObject({
      status: 'error',
      error: { code: 'model_auth' },
    });
  });

  test('a restart in between goes on with the model that was in use', async () => {
    const store = memoryStore();
    let isOpen: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => {
      isOpen = resolve;
    });
    const wait = tool({
      name: 'wait',
      description: '',
      schema: { type: 'object' },
      readOnly: true,
      execute: (ctx) => {
        isOpen();
        return new Promise((_resolve, reject) =>
          ctx.signal.addEventListener('abort', () => reject(new Error('stopped'))),
        );
      },
    });
    const first = scriptedModel([refused], { modelId: 'first' });
    const second = scriptedModel([calls('wait')], { modelId: 'second' });
    const make = (
      models: readonly ReturnType<typeof scriptedModel>[],
      tools: readonly (typeof wait)[],
    ) => agent({ name: 'helper', model: models, tools });
    const run = runtime({ app: 'test', store, recover: 'manual' }).run(
      make([first, second], [wait]),
      { input: 'go', session: 's' },
    );
    await reached;
    run.stop();
    await run.then(undefined, () => undefined);
    const later = scriptedModel([says('done')], { modelId: 'second' });
    const never = scriptedModel([], { modelId: 'first' });
    const quick = tool({
      name: 'wait',
      description: '',
      schema: { type: 'object' },
      readOnly: true,
      execute: () => 'waited',
    });
    const helper = make([never, later], [quick]);
    const result = await runtime({
      app: 'test',
      store,
      runnables: [helper],
      recover: 'manual',
    }).resume('s');
    expect(result.output).toBe('done');
    expect(never.calls).toEqual([]);
  });

  test('an empty answer is asked for again, and the model is told', async () => {
    const model = scriptedModel([{}, says('now')]);
    const clock = testClock();
    const run = runtime({ app: 'test', ports: { clock } }).run(
      agent({ name: 'helper', model }),
      'go',
    );
    expect((await eventually(run, { clock, stepMs: 1_000 })).output).toBe('now');
    expect(JSON.stringify(model.calls[1]?.prompt.at(-1))).toContain('Your last answer was empty');
    expect(decisions(await run, 'models')).toEqual(['nudge']);
  });

  test(
    'what a model charged for nothing is counted also when a handler answers in its place; ' +
      'what no model was asked for costs nothing',
    async () => {
      const price = { input: 1_000_000, output: 1_000_000 };
      const load = (responses: ScriptedResponses) => {
        const scripted = scriptedModel(responses);
        return {
          kind: 'model' as const,
          provider: 'scripted',
          modelId: 'scripted',
          settings: {},
          price,
          load: () => scripted,
        };
      };
      const app = runtime({ app: 'test' });
      const instead = {
        name: 'instead',
        handle: () => ({ action: 'fallback' as const, result: 'busy' }),
      };
      const handled = await app.run(
        agent({ name: 'handled', model: load([{ thoughts: 'hm' }]), errorHandlers: [instead] }),
        'go',
      );
      expect(handled).toMatchObject({
        output: 'busy',
        usage: { inputTokens: 10, outputTokens: 5 },
        cost: 15,
      });
      const hooked = await app.run(
        agent({
          name: 'hooked',
          model: load([]),
          hooks: { beforeModel: () => ({ stepEvents: [{ type: 'assistant', text: 'hi' }] }) },
        }),
        'go',
      );
      expect(hooked).toMatchObject({
        output: 'hi',
        usage: { inputTokens: 0, outputTokens: 0 },
        cost: 0,
      });
    },
  );
});

describe('answers that are none', () => {
  const refusal = { text: 'I cannot help with that.', finishReason: 'content-filter' as const };

  test('a refusal goes to the next model; without one its words are the answer', async () => {
    const other = scriptedModel([says('Here it is.')], { modelId: 'other' });
    const both = await runtime({ app: 'test' }).run(
      agent({ name: 'helper', model: [scriptedModel([refusal]), other] }),
      'go',
    );
    expect(both.output).toBe('Here it is.');
    expect(eventsOf(both, 'model_end')[0]).toMatchObject({
      status: 'error',
      usage: { inputTokens: 10, outputTokens: 5 },
    });
    const alone = await runtime({ app: 'test' }).run(
      agent({ name: 'helper', model: scriptedModel([refusal]) }),
      'go',
    );
    expect(alone).toMatchObject({ status: 'completed', output: 'I cannot help with that.' });
  });

  test(
    'an answer that was withheld goes to the next model; without one it is an error that ' +
      'says so',
    async () => {
      const withheld = { finishReason: 'content-filter' as const };
      const other = scriptedModel([says('Here it is.')], { modelId: 'other' });
      const both = await runtime({ app: 'test' }).run(
        agent({ name: 'helper', model: [scriptedModel([withheld]), other] }),
        'go',
      );
      expect(both.output).toBe('Here it is.');
      const alone = await runtime({ app: 'test' }).run(
        agent({ name: 'helper', model: scriptedModel([withheld]) }),
        'go',
      );
      expect(alone).toMatchObject({ status: 'error', error: { code: 'model_content_filter' } });
    },
  );
});
