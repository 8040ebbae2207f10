import { agent, loop, runtime, sequence, step, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { callerOf } from './caller.ts';

test(
  'says of everything that can be run what it takes, gives and may call, and nothing of ' +
    'prompts and models',
  async () => {
    const refund = tool({
      name: 'refund',
      description: 'Gives money back',
      schema: z.object({ cents: z.number().int() }),
      outputSchema: z.object({ id: z.string() }),
      approval: { when: ({ args }) => (args as { cents: number }).cents > 100 },
      requiresPermission: ['money:write'],
      destructive: true,
      execute: () => ({ id: '1' }),
    });
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: z.object({}),
      yieldSchema: z.object({ answer: z.string() }),
    });
    const clock = tool({
      name: 'clock',
      description: 'Tells the time',
      schema: z.object({}),
      readOnly: true,
      execute: () => 'noon',
    });
    const support = agent({
      name: 'support',
      description: 'Helps',
      version: '2',
      model: scriptedModel([]),
      tools: [refund, ask],
      input: z.object({ order: z.string() }),
      output: z.object({ solved: z.boolean() }),
    });
    const tidy = step({ name: 'tidy', execute: (ctx) => ctx.complete(null) });
    const whole = sequence({ name: 'whole', runnables: [support, tidy] });
    const again = loop({ name: 'again', runnable: tidy, maxIterations: 2 });
    const { get } = callerOf(runtime({ app: 'shop', runnables: [whole, again], tools: [clock] }));
    const { body } = await get('/v1/agents');
    expect(body.agents.map(({ name }) => name)).toEqual(['whole', 'support', 'tidy', 'again']);
    expect(body.agents).toMatchObject([
      { kind: 'sequence', parts: ['support', 'tidy'] },
      {},
      { kind: 'step' },
      { kind: 'loop', parts: ['tidy'] },
    ]);
    const found = await get('/v1/agents/support');
    expect(found.body).toMatchObject({
      name: 'support',
      kind: 'agent',
      description: 'Helps',
      version: '2',
      inputSchema: { type: 'object', required: ['order'] },
      outputSchema: { type: 'object', properties: { solved: { type: 'boolean' } } },
      tools: [
        {
          name: 'refund',
          shared: false,
          inputSchema: { properties: { cents: { type: 'integer' } } },
          outputSchema: { properties: { id: { type: 'string' } } },
          approval: 'sometimes',
          requiresPermission: ['money:write'],
          destructive: true,
        },
        { name: 'ask', approval: 'never', yieldSchema: { required: ['answer'] } },
        { name: 'clock', shared: true, readOnly: true },
      ],
    });
    expect(found.text).not.toContain('scripted');
    expect((await get('/v1/agents/suport')).body).toMatchObject({
      code: 'agent_not_found',
      data: { nearest: 'support' },
    });
  },
);
