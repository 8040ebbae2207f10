import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { agent, sequence, ToolFailure, textProtocol, tool, toolResult } from 'adjutant';
import { type MakeScenario, roundModel, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';
import { call, noting, schema } from '../engine/app/recovery/scenarios.ts';
import { always, calls, count, failing, refusing } from './supervised-scenarios.ts';

/**
 * Models that fail for good, error handlers that try again or give another result, and an answer
 * when nothing else is left.
 */
export const failures: MakeScenario = () => {
  const broken = roundModel([{ error: refusing(401, 'Incorrect API key', false) }], {
    modelId: 'broken',
  });
  const overloaded = roundModel([{ error: refusing(503, 'overloaded', true) }], {
    modelId: 'overloaded',
  });
  const twice = {
    kind: 'model' as const,
    provider: 'scripted',
    modelId: 'overloaded',
    settings: { retry: { attempts: 2, initialDelayMs: 1 } },
  };
  const worker = agent({
    name: 'worker',
    model: [
      broken,
      { ...twice, load: () => overloaded },
      roundModel([calls('busy', 'bad', 'worse'), { text: 'done' }], { modelId: 'third' }),
    ],
    tools: [
      failing('busy', 2, () => new ToolFailure('busy', { errorType: 'busy' })),
      failing('bad', always, () => new ToolFailure('bad', { errorType: 'bad' })),
      failing('worse', always, () => new ToolFailure('worse', { errorType: 'worse' })),
    ],
    errorHandlers: [
      {
        name: 'patient',
        canHandle: ({ phase }) => phase === 'tool',
        handle: async (ctx) => {
          count(ctx, `handled ${ctx.call?.callId} ${ctx.error.code}`);
          await Promise.resolve();
          if (ctx.error.code === 'bad') return { action: 'fallback', result: 'something else' };
          return ctx.error.code === 'busy' ? { action: 'retry', delayMs: 1 } : { action: 'skip' };
        },
      },
    ],
    output: 'worked',
  });
  const helpless = agent({
    name: 'helpless',
    model: broken,
    hooks: {
      onModelError: (ctx, error) => {
        count(ctx, 'excuses');
        return `Sorry: ${error.name}`;
      },
    },
    output: 'excuse',
  });
  return { runnable: sequence({ name: 'all', runnables: [helpless, worker] }) };
};

/**
 * Answers that do not fit and are asked for again, goals that ask for another round, and results
 * that are the answer.
 */
export const answering: MakeScenario = () => ({
  runnable: sequence({
    name: 'all',
    runnables: [
      agent({
        name: 'typed',
        model: roundModel([
          calls('note'),
          { text: 'It is red.' },
          { text: '{"colour": 3}' },
          { text: '{"colour": "red"}' },
        ]),
        tools: [noting('note')],
        output: z.object({ colour: z.string() }),
      }),
      agent({
        name: 'titled',
        model: roundModel([
          { text: 'A long title' },
          calls('note'),
          { text: 'A title' },
          { text: 'Title' },
        ]),
        tools: [noting('note')],
        goal: {
          check: (output) =>
            String(output).length <= 5 || `it has ${String(output).length} characters`,
        },
        output: 'title',
      }),
      agent({
        name: 'reporter',
        model: roundModel([calls('note', 'report'), { text: 'never' }]),
        tools: [
          noting('note'),
          tool({
            name: 'report',
            description: 'Has the last word',
            schema,
            recovery: 'rerun',
            execute: () => {
              return toolResult.success('the report', { final: true });
            },
          }),
        ],
        output: 'report',
      }),
    ],
  }),
});

/**
 * A reader whose prompt outgrows its window; its answers follow from what the newest message says.
 */
function reader(name: string, window: number, rounds: number, declared: number | undefined) {
  const model = scriptedModel(
    (prompt) => {
      const page = lastPage(prompt, name) + 1;
      if (!JSON.stringify(prompt).includes(`${name} has begun`))
        return { toolCalls: [call('keep', 1)] };
      return page <= rounds ? { toolCalls: [call('read', page)] } : { text: `${name} has read it` };
    },
    { modelId: name, contextWindow: window, isWindowKnown: declared !== undefined },
  );
  const read = tool({
    name: 'read',
    description: 'Reads a page',
    schema,
    recovery: 'rerun',
    execute: ({ args }) => {
      return `${name}: page ${args.n}\n${'a line of text\n'.repeat(60)}`;
    },
  });
  const keep = tool({
    name: 'keep',
    description: 'Keeps a fact',
    schema,
    recovery: 'rerun',
    execute: (ctx) => {
      ctx.remember(`${name} has begun`);
      ctx.remember(`Fact ${ctx.args.n}`, { key: 'fact' });
      return 'kept';
    },
  });
  const summaries = roundModel([{ text: 'Some pages were read.' }], { modelId: 'summaries' });
  return agent({
    name,
    model,
    tools: [read, keep],
    compaction: { model: summaries, keep: 4 },
    output: name,
  });
}

/** Page numbers in what the prompt shows: the newest results are never left out. */
function lastPage(prompt: LanguageModelV4Prompt, name: string): number {
  const pages = [...JSON.stringify(prompt).matchAll(new RegExp(`${name}: page (\\d+)`, 'g'))].map(
    ([, page]) => Number(page),
  );
  return Math.max(0, ...pages);
}

/**
 * Prompts that are made shorter: by a summary that a child writes, and after the provider has
 * refused them. Facts stay.
 */
export const compacting: MakeScenario = () => ({
  runnable: sequence({
    name: 'all',
    runnables: [reader('scholar', 2_500, 7, 2_500), reader('skimmer', 1_800, 5, undefined)],
  }),
});

/**
 * A budget that ends with an answer without tools. What a call that was cut off may have cost
 * counts too, so prompts may hold other limits.
 */
export const spending: MakeScenario = () => ({
  runnable: agent({
    name: 'spender',
    model: roundModel([
      { ...calls('note'), usage: { inputTokens: 8_000, outputTokens: 600 } },
      { ...calls('note'), text: 'That is all.' },
    ]),
    tools: [noting('note')],
    limits: { tokens: 9_000 },
    output: 'spent',
  }),
  compares: 'outcome',
});

/**
 * A model that writes its calls as text, prepared, let in and followed up by the app; another run
 * is not let in.
 */
export const speaking: MakeScenario = () => {
  const texts = [
    'Thought: Two notes.\nAction: {"tool": "note", "arguments": {"n": 1}}\nAction: ' +
      "{'action': 'note', 'args': {'n': 2,}}",
    'Action: {"tool": "absent", "arguments": {"n": 3}}',
    'Action: note it',
    'Thought: Enough.\nFinal Answer: Noted.',
  ];
  return {
    runnable: agent({
      name: 'speaker',
      model: textProtocol(
        roundModel(texts.map((text) => ({ chunks: text.match(/[\s\S]{1,7}/g) ?? [] }))),
      ),
      tools: [noting('note')],
      output: 'answer',
    }),
    app: {
      lifecycle: {
        prepare: async (ctx) => {
          ctx.state['profile'] = await ctx.effect('load', () => 'ann', { recovery: 'rerun' });
        },
        admit: (ctx) => ctx.state['profile'] === 'ann' || { refuse: 'Nobody knows you.' },
        postProcess: (ctx, { output }) => {
          ctx.state['kept'] = `kept ${String(output)}`;
        },
      },
    },
  };
};
