import { APICallError } from '@ai-sdk/provider';
import {
  agent,
  type HookContext,
  type RequestAnswer,
  sequence,
  step,
  ToolFailure,
  tool,
} from 'adjutant';
import { type MakeScenario, roundModel, type ScriptedResponse } from 'adjutant/testing';
import { call, failedAttempts, leaf, noting, schema } from '../engine/app/recovery/scenarios.ts';

export const calls = (...names: readonly string[]): ScriptedResponse => ({
  toolCalls: names.map((name, index) => call(name, index + 1)),
});

function http(status: number): Error {
  return Object.assign(new Error(`HTTP ${status}`), { status });
}

/** A tool that fails so many times, and then works. */
export function failing(name: string, times: number, error: () => Error, more: object = {}) {
  return tool({
    name,
    description: `Tries ${name}`,
    schema,
    recovery: 'rerun',
    execute: ({ args, callId, session }) => {
      if (failedAttempts(session.events, callId) < times) throw error();
      return { [name]: args.n };
    },
    ...more,
  });
}

const quick = { initialDelayMs: 1, multiplier: 1 };
export const always = Number.POSITIVE_INFINITY;

/**
 * All acts of the error router: it tries again, lets other tools stand in, one of them by leave of
 * a person, gives hints and closes ways.
 */
export const routing: MakeScenario = () => {
  const chains = {
    http_429: ['backoff', 'backoff', 'report'],
    http_403: ['fallbackTool', 'report'],
  } as const;
  return {
    runnable: agent({
      name: 'fetcher',
      model: roundModel([
        calls('limited', 'overrun', 'closed', 'paywall', 'absent'),
        {
          toolCalls: [
            call('overrun', 2),
            { name: 'note', args: { n: 'one' } },
            call('absent', 5),
            call('absent', 6),
          ],
        },
        { text: 'fetched' },
      ]),
      tools: [
        failing('limited', 2, () => http(429)),
        failing('overrun', always, () => http(429)),
        failing('closed', always, () => http(403), {
          fallback: { tool: 'note', args: () => ({ n: 30 }) },
        }),
        failing('paywall', always, () => http(403), { fallback: 'buy' }),
        noting('note'),
        failing('buy', 0, () => http(500), { approval: true }),
      ],
      supervision: { errors: { chains, ...quick } },
    }),
    answers: () => ({ decision: 'approve' }),
    pauseMs: 60_000,
  };
};

/**
 * Calls that lead nowhere, those of a tool that is not there too: they are warned of, not let
 * through, and end in an answer without tools.
 */
export const loops: MakeScenario = () => ({
  runnable: agent({
    name: 'stubborn',
    model: roundModel([
      calls('note'),
      calls('note', 'absent'),
      calls('note', 'absent'),
      calls('note', 'absent'),
      { text: 'I could not.' },
    ]),
    tools: [noting('note')],
    supervision: { loops: { warnAt: 2, blockAt: 3 } },
  }),
});

/** Guardrails at each point, questions that they ask, and a tool that is not allowed. */
export const guarding: MakeScenario = () => {
  const byNumber = (n: unknown) => {
    if (n === 1) return { action: 'deny', message: 'Not one.' } as const;
    if (n === 2) return { action: 'transform', value: { n: 20 } } as const;
    if (n === 3) return { action: 'confirm', summary: 'Three?' } as const;
    return n === 4 ? ({ action: 'guide', message: 'Four is a lot.' } as const) : undefined;
  };
  const guarded = {
    name: 'numbers',
    input: ({ text }: { text: string }) =>
      text === 'Go' ? ({ action: 'transform', value: 'Go on' } as const) : undefined,
    modelCall: ({ round }: { round: number }) =>
      round === 2
        ? ({ action: 'guide', message: 'This is the second round.' } as const)
        : undefined,
    output: ({ text }: { text: string }) =>
      text === 'rude' ? ({ action: 'guide', message: 'Say it kindly.' } as const) : undefined,
    toolCall: ({ args }: { args: unknown }) => byNumber((args as { n?: number }).n),
    toolResult: ({ args }: { args: unknown }) =>
      (args as { n?: number }).n === 20
        ? ({ action: 'transform', value: 'something' } as const)
        : undefined,
  };
  return {
    runnable: agent({
      name: 'careful',
      model: roundModel([
        calls('note', 'note', 'note', 'note', 'secret'),
        { toolCalls: [call('note', 3)] },
        { text: 'rude' },
        { text: 'kind' },
      ]),
      tools: [
        noting('note'),
        failing('secret', 0, () => http(500), { requiresPermission: ['vault:open'] }),
      ],
      supervision: { guardrails: [guarded] },
      output: 'answer',
    }),
    pauseMs: 60_000,
    answers: ({ callId }): RequestAnswer =>
      callId.includes('/r1.') ? { decision: 'approve' } : { decision: 'reject', reason: 'no' },
  };
};

/** Counts in the session's state: what lands once is 1. */
export function count(ctx: HookContext, key: string): void {
  ctx.state[key] = ((ctx.state[key] as number | undefined) ?? 0) + 1;
}

/**
 * Hooks that answer, change answers and results, hand over, and write state at each place, for
 * calls beside each other too.
 */
export const hooking: MakeScenario = () => {
  const expert = leaf('expert');
  const worker = agent({
    name: 'worker',
    model: roundModel([
      calls('never'),
      { toolCalls: [call('note', 1), call('note', 2), call('note', 3)] },
      { text: 'plain' },
    ]),
    tools: [noting('note')],
    hooks: {
      beforeModel: (ctx) => {
        count(ctx, `asked ${ctx.round}`);
        if (ctx.round > 1) return undefined;
        return {
          stepEvents: [
            { type: 'assistant', text: 'At once.' },
            { type: 'tool_call', name: 'note', args: { n: 7 } },
          ],
          terminal: false,
        };
      },
      afterModel: (ctx, result) => {
        count(ctx, 'answers');
        const stepEvents = result.stepEvents.map((one) =>
          one.type === 'assistant' && one.text === 'plain' ? { ...one, text: 'adorned' } : one,
        );
        return { ...result, stepEvents };
      },
      beforeTool: async (ctx, { args, callId }) => {
        const isKnown = (args as { n: number }).n === 2;
        // Hooks are asked before each attempt, and a stop can lead to one more.
        if (isKnown) count(ctx, `known ${callId}`);
        else ctx.state[`attempted ${callId}`] = true;
        await Promise.resolve();
        return isKnown ? 'known already' : undefined;
      },
      afterTool: async (ctx, { args, callId }, result) => {
        count(ctx, `after ${callId}`);
        await Promise.resolve();
        return (args as { n: number }).n === 7 ? { ...result, content: 'changed' } : undefined;
      },
      afterAgent: (ctx, output) => {
        count(ctx, 'ends');
        return `${String(output)}, checked`;
      },
    },
    output: 'work',
  });
  const desk = agent({
    name: 'desk',
    model: roundModel([calls('note'), { text: 'Let somebody else do it.' }]),
    tools: [noting('note')],
    hooks: {
      afterModel: (ctx) => {
        count(ctx, 'answers of the desk');
        return ctx.round === 2 ? expert : undefined;
      },
    },
  });
  const silent = agent({
    name: 'silent',
    model: roundModel([{ text: 'never' }]),
    hooks: {
      beforeAgent: (ctx) => {
        count(ctx, 'begins');
        return 'Nothing to do.';
      },
    },
    output: 'silence',
  });
  return {
    runnable: sequence({ name: 'all', runnables: [silent, desk, worker] }),
    app: { runnables: [expert] },
  };
};

export function refusing(status: number, message: string, isRetryable: boolean): APICallError {
  const url = 'https://models.example/v1';
  return new APICallError({
    message,
    url,
    requestBodyValues: {},
    statusCode: status,
    responseBody: JSON.stringify({ error: { message } }),
    isRetryable,
  });
}

/** Failures that are handed up, to a person, to the list of failures and to the caller. */
export const escalating: MakeScenario = () => {
  const locked = (name: string, times: number) =>
    failing(name, times, () => new ToolFailure('locked', { errorType: name }));
  const vault = agent({
    name: 'vault',
    model: roundModel([calls('gate', 'door', 'chest', 'cellar'), { text: 'opened' }]),
    tools: [
      locked('gate', 1),
      locked('door', always),
      locked('chest', always),
      locked('cellar', always),
    ],
    supervision: {
      errors: {
        chains: {
          gate: [{ escalate: 'human' }],
          door: [{ escalate: 'human' }],
          chest: [{ escalate: 'human' }],
          cellar: [{ escalate: 'failures' }],
        },
      },
    },
    output: 'vault',
  });
  const given = agent({
    name: 'given',
    model: roundModel([calls('tower'), { text: 'never' }]),
    tools: [locked('tower', always)],
    supervision: { errors: { chains: { tower: [{ escalate: 'caller' }] } } },
  });
  return {
    runnable: sequence({
      name: 'all',
      runnables: [
        step({
          name: 'caller',
          execute: async (ctx) => {
            const { error } = await ctx.call(given, { message: 'open it' });
            ctx.state['escalated'] = error?.code;
          },
        }),
        vault,
      ],
    }),
    app: { runnables: [given] },
    answers: ({ name }): RequestAnswer => {
      if (name === 'gate') return { decision: 'retry' };
      return name === 'door'
        ? { decision: 'succeeded', input: 'opened by hand' }
        : { decision: 'report' };
    },
  };
};

/** A run that is not let in. */
export const refused: MakeScenario = () => ({
  runnable: leaf('guest'),
  app: {
    lifecycle: {
      prepare: async (ctx) => {
        ctx.state['profile'] = await ctx.effect('load', () => 'nobody', { recovery: 'rerun' });
      },
      admit: async (ctx) => {
        const known = await ctx.effect('look up', () => ['ann'], { recovery: 'rerun' });
        return known.includes(String(ctx.state['profile'])) || { refuse: 'Nobody knows you.' };
      },
    },
  },
});
