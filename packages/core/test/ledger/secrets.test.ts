import { agent, run, secret, session, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

test(
  'a secret in a tool result reaches neither the ledger nor the model; state ' + 'refuses it',
  async () => {
    const key = secret('API_KEY', 'very-private');
    const leaky = tool({
      name: 'leaky',
      description: 'Returns its settings',
      schema: z.object({}),
      execute: () => ({ key, used: key.reveal().length }),
    });
    const model = scriptedModel([{ toolCalls: [{ name: 'leaky', args: {} }] }, { text: 'done' }]);
    const result = await run(agent({ name: 'a', model, tools: [leaky] }), 'go');
    expect(JSON.stringify(result.session.events)).not.toContain('very-private');
    expect(JSON.stringify(model.calls)).not.toContain('very-private');
    expect(JSON.stringify(result.session.events)).toContain('{"$secret":"API_KEY"}');
    const other = await session('app');
    expect(() => other.state.update({ key })).toThrow(/must be JSON/);
  },
);
