import { describe, expect, test } from 'vitest';
import { promptOf } from '../../../../src/context/index.ts';
import { agent, runtime, step, tool } from '../../../../src/index.ts';
import { scriptedModel } from '../../../../src/testing/kit/scripted-model.ts';
import { calls, decisions, echo, eventsOf, says, setUp } from './hooked-agent.ts';

describe('what hooks put in the place of something', () => {
  test('beforeAgent: a string is the answer, and the transcript has it', async () => {
    const { app, helper } = setUp([], {
      hooks: { beforeAgent: (ctx) => `no work for ${ctx.agent}` },
    });
    const result = await app.run(helper, 'go');
    expect(result).toMatchObject({ status: 'completed', output: 'no work for helper' });
    expect(eventsOf(result, 'assistant').map(({ text }) => text)).toEqual(['no work for helper']);
    expect(decisions(result, 'hooks')).toEqual(['answer']);
  });

  test('beforeAgent: a runnable takes over', async () => {
    const other = step({ name: 'other', execute: (ctx) => ctx.complete('from the step') });
    const { app, helper } = setUp([], { hooks: { beforeAgent: () => other } });
    const result = await app.run(helper, 'go');
    expect(result).toMatchObject({ status: 'completed', output: 'from the step' });
    expect(eventsOf(result, 'handoff')).toMatchObject([{ from: 'helper', to: 'other' }]);
  });

  test(
    'beforeModel: an answer in the place of the model, which is not asked; it costs nothing ' +
      'and says whose it is',
    async () => {
      const { app, helper, model } = setUp([], {
        hooks: {
          beforeModel: () => ({
            stepEvents: [{ type: 'assistant', text: 'PII detected' }],
            terminal: true,
          }),
        },
      });
      const result = await app.run(helper, 'go');
      expect(result).toMatchObject({
        status: 'completed',
        output: 'PII detected',
        usage: { inputTokens: 0, outputTokens: 0 },
      });
      expect(model.calls).toEqual([]);
      expect(eventsOf(result, 'model_end')).toMatchObject([
        { status: 'completed', substitutedBy: 'beforeModel of the agent "helper"' },
      ]);
    },
  );

  test('beforeModel: tool calls in its answer are made, and then the model is asked', async () => {
    const { app, helper, model } = setUp([says('done')], {
      hooks: {
        beforeModel: (ctx) =>
          ctx.round === 1
            ? { stepEvents: [{ type: 'tool_call', name: 'echo', args: { a: 1 } }] }
            : undefined,
      },
    });
    const result = await app.run(helper, 'go');
    expect(result.output).toBe('done');
    expect(eventsOf(result, 'tool_result')).toMatchObject([
      { name: 'echo', result: { status: 'success', content: { a: 1 } } },
    ]);
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain('tool-result');
  });

  test(
    'beforeModel: an answer that is not the end is said, and the model is asked in the next ' +
      'round',
    async () => {
      let asked = 0;
      const { app, helper } = setUp([says('the answer')], {
        hooks: {
          beforeModel: () =>
            asked++ === 0
              ? { stepEvents: [{ type: 'assistant', text: 'One moment.' }], terminal: false }
              : undefined,
        },
      });
      const result = await app.run(helper, 'go');
      expect(result.output).toBe('the answer');
      expect(eventsOf(result, 'assistant').map(({ text }) => text)).toEqual([
        'One moment.',
        'the answer',
      ]);
    },
  );

  test('beforeModel: another prompt is what the model gets, and what promptOf shows', async () => {
    const { app, helper, model } = setUp([says('done')], {
      hooks: {
        beforeModel: (_ctx, prompt) =>
          prompt.append({ type: 'synthetic', role: 'user', text: 'Be brief.' }),
      },
    });
    const result = await app.run(helper, 'go');
    expect(model.calls[0]?.prompt.at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'Be brief.' }],
    });
    const [start] = eventsOf(result, 'model_start');
    expect(promptOf(result.session, start?.seq ?? 0).prompt).toEqual(model.calls[0]?.prompt);
  });

  test.each(['beforeModel', 'afterModel'] as const)(
    '%s: a runnable takes over, and the calls of an answer are not made',
    async (hook) => {
      const { app, helper, specialist } = setUp([calls('echo')], {});
      const handing = agent({
        ...helperOptions(helper.model as never),
        name: 'handing',
        tools: [echo],
        hooks: { [hook]: () => specialist },
      });
      const result = await app.run(handing, 'go');
      expect(result).toMatchObject({ status: 'completed', output: 'the specialist answers' });
      expect(eventsOf(result, 'handoff')).toMatchObject([{ from: 'handing', to: 'specialist' }]);
      expect(eventsOf(result, 'tool_call')).toEqual([]);
      expect(decisions(result, 'hooks')).toEqual(['transfer']);
    },
  );

  test(
    'afterModel: another answer is recorded in the place of the first; parts that it leaves ' +
      'keep what the provider wants back',
    async () => {
      const { app, helper } = setUp([{ text: 'secret plan', thoughts: 'hm' }], {
        hooks: {
          afterModel: (_ctx, result) => ({
            ...result,
            stepEvents: result.stepEvents.map((event) =>
              event.type === 'assistant' ? { ...event, text: event.text.toUpperCase() } : event,
            ),
          }),
        },
      });
      const result = await app.run(helper, 'go');
      expect(result.output).toBe('SECRET PLAN');
      expect(JSON.stringify(result.session.events)).not.toContain('secret plan');
      expect(eventsOf(result, 'thought').map(({ text }) => text)).toEqual(['hm']);
      expect(decisions(result, 'hooks')).toEqual(['change_answer']);
    },
  );

  test(
    'beforeTool: a result in the place of the tool; { error } is a refusal that the model ' +
      'reads',
    async () => {
      let ran = 0;
      const danger = tool({
        name: 'danger',
        description: '',
        schema: { type: 'object' },
        execute: () => ++ran,
      });
      const model = scriptedModel([calls('danger'), says('ok')]);
      const careful = agent({
        name: 'careful',
        model,
        tools: [danger],
        hooks: {
          beforeTool: (_ctx, call) => (call.name === 'danger' ? { error: 'Blocked' } : undefined),
        },
      });
      const result = await runtime({ app: 'test' }).run(careful, 'go');
      expect(ran).toBe(0);
      expect(eventsOf(result, 'tool_result')).toMatchObject([
        {
          attempt: 0,
          result: { status: 'error_blocked', content: 'Blocked', errorType: 'hook_refused' },
        },
      ]);
      expect(decisions(result, 'hooks')).toEqual(['skip_tool']);
    },
  );

  test('afterTool: another result', async () => {
    const { app, helper } = setUp([calls('echo', { text: 'me@example.org' }), says('ok')], {
      hooks: { afterTool: () => ({ text: '[removed]' }) },
    });
    const result = await app.run(helper, 'go');
    expect(eventsOf(result, 'tool_result')).toMatchObject([
      { result: { status: 'success', content: { text: '[removed]' } } },
    ]);
  });

  test('onToolError: a result in the place of a failure', async () => {
    const broken = tool({
      name: 'broken',
      description: '',
      schema: { type: 'object' },
      execute: () => {
        throw new Error('no');
      },
    });
    const model = scriptedModel([calls('broken'), says('ok')]);
    const lenient = agent({
      name: 'lenient',
      model,
      tools: [broken],
      hooks: { onToolError: (_ctx, call, failed) => `${call.name}: ${failed.errorType}` },
    });
    const result = await runtime({ app: 'test' }).run(lenient, 'go');
    expect(eventsOf(result, 'tool_result')).toMatchObject([
      { settled: true, result: { status: 'success', content: 'broken: tool_error' } },
    ]);
  });

  test(
    'onModelError: an answer when nothing else is left; the error stays in ' + 'the ledger',
    async () => {
      const { app, helper } = setUp([{ error: new Error('invalid_api_key') }], {
        hooks: {
          onModelError: (_ctx, error) => `busy (${(error as Error & { code: string }).code})`,
        },
      });
      const result = await app.run(helper, 'go');
      expect(result).toMatchObject({ status: 'completed', output: 'busy (model_auth)' });
      expect(eventsOf(result, 'model_end')).toMatchObject([
        {
          status: 'completed',
          substitutedBy: 'onModelError of the agent "helper"',
          error: { code: 'model_auth' },
        },
      ]);
    },
  );
});

function helperOptions(model: never): { name: string; model: never } {
  return { name: 'x', model };
}
