import { agent, output, runtime } from 'adjutant';
import {
  appendBoundaries,
  continueFrom,
  type MakeScenario,
  runWhole,
  scriptedModel,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { answer, decisionsOf, lamp, product, textsOf } from './product.ts';

describe('an answer that does not fit', () => {
  test('is asked for again with what is wrong and with the schema', async () => {
    const { result, model } = await answer({ output: product }, [
      { text: '{"name":"Lamp","price":"twelve"}' },
      { text: lamp },
    ]);
    expect(result).toMatchObject({ status: 'completed', output: { name: 'Lamp', price: 12 } });
    const [repair, ...others] = decisionsOf(result.session.events);
    expect(others).toEqual([]);
    expect(repair).toMatchObject({ decision: 'repair', data: { repairs: 1 } });
    const told = textsOf(model.calls[1]?.prompt);
    expect(told).toContain('$.price: came the string');
    expect(told).toContain('additionalProperties');
    expect(result.rounds).toBe(2);
  });

  test('fails as a validation error when it was asked for again twice', async () => {
    const { result, model } = await answer({ output: product }, [
      { text: 'A lamp' },
      { text: 'Really, a lamp' },
      { text: '{"name":"Lamp"}' },
      { text: lamp },
    ]);
    expect(model.calls).toHaveLength(3);
    expect(result).toMatchObject({
      status: 'error',
      output: undefined,
      error: { code: 'validation_error', data: { agent: 'seller' } },
    });
    expect(result.error?.message).toContain('$.price must be a number');
    expect(decisionsOf(result.session.events).map(({ decision }) => decision)).toEqual([
      'repair',
      'repair',
      'invalid',
    ]);
    expect(result.session.state).toEqual({});
  });

  test('says nothing of the values where people read it', async () => {
    const { result } = await answer({ output: z.object({ pin: z.number() }) }, [
      { text: '{"pin":"sesame"}' },
      { text: '{"pin":1}' },
    ]);
    expect(decisionsOf(result.session.events)[0]?.reasoning).not.toContain('sesame');
  });

  test(
    'counts against the limit of rounds; the last answer that does not fit ' + 'either fails',
    async () => {
      const { result, model } = await answer({ output: product, limits: { rounds: 2 } }, [
        { text: 'A' },
        { text: 'B' },
        { text: 'C' },
        { text: lamp },
      ]);
      expect(result).toMatchObject({
        status: 'error',
        stopReason: 'round_limit',
        error: { code: 'validation_error' },
      });
      expect(decisionsOf(result.session.events).map(({ decision }) => decision)).toEqual([
        'repair',
        'repair',
        'invalid',
      ]);
      expect(decisionsOf(result.session.events).at(-1)?.reasoning).toContain('no round is left');
      expect(model.calls).toHaveLength(3);
    },
  );

  test(
    'counts against the limit of tokens, and fails when there are none for ' + 'another answer',
    async () => {
      const usage = { inputTokens: 300, outputTokens: 300 };
      const { result, model } = await answer({ output: product, limits: { tokens: 620 } }, [
        { text: 'A lamp', usage },
        { text: lamp, usage },
      ]);
      expect(result).toMatchObject({
        status: 'error',
        output: undefined,
        stopReason: 'token_limit',
        error: { code: 'validation_error' },
      });
      expect(model.calls).toHaveLength(1);
    },
  );

  test('a last answer at a limit that fits is taken', async () => {
    const { result } = await answer({ output: product, limits: { rounds: 1 } }, [
      { text: 'A lamp' },
      { text: lamp },
    ]);
    expect(result).toMatchObject({
      status: 'completed',
      output: { name: 'Lamp', price: 12 },
      stopReason: 'round_limit',
    });
  });

  test('what was cut off is not completed by guessing', async () => {
    const cut = { text: '{"name":"Lamp","price":12', finishReason: 'length' as const };
    const { result, model } = await answer({ output: product }, [cut, { text: lamp }]);
    expect(result.output).toEqual({ name: 'Lamp', price: 12 });
    expect(textsOf(model.calls[1]?.prompt)).toContain('Make it shorter');
  });

  test('an agent that failed for its answer and is reopened is asked again', async () => {
    const model = scriptedModel([{ text: 'A' }, { text: 'B' }, { text: 'C' }, { text: lamp }]);
    const app = runtime({
      app: 'shop',
      runnables: [agent({ name: 'seller', model, output: product })],
    });
    const seller = agent({ name: 'seller', model, output: product });
    const failed = await app.run(seller, 'What do you sell?');
    expect(failed.error?.code).toBe('validation_error');
    await app.sessions.reopen(failed.session, { path: failed.runId, reason: 'try again' });
    expect(await app.run(seller, { session: failed.session })).toMatchObject({
      status: 'completed',
      output: { name: 'Lamp', price: 12 },
    });
    expect(model.calls.at(-1)?.prompt.at(-1)).toMatchObject({ role: 'user' });
    expect(textsOf(model.calls.at(-1)?.prompt.slice(-1))).toContain(
      'There is no JSON in your answer',
    );
  });

  test('a schema that makes something else than JSON is said to', async () => {
    const dates = z.object({ day: z.string().transform((text) => new Date(text)) });
    const day = '{"day":"2026-01-01"}';
    const { result } = await answer({ output: dates }, [
      { text: day },
      { text: day },
      { text: day },
    ]);
    expect(result.error).toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('which is not JSON'),
    });
  });
});

/** Answers by how many answers its prompt shows, so that it goes on the same way after a stop. */
const repairing: MakeScenario = () => {
  const model = scriptedModel((prompt) => {
    const answers = prompt.filter(({ role }) => role === 'assistant').length;
    return { text: ['A lamp', '{"name":"Lamp"}', lamp][answers] ?? lamp };
  });
  return {
    runnable: agent({ name: 'seller', model, output: output({ session: { product } }, 'product') }),
  };
};

test(
  'a process that stops between an answer and its repair is continued as if ' + 'it had not',
  async () => {
    const whole = await runWhole(repairing);
    expect(whole.outcome.result).toMatchObject({
      status: 'completed',
      output: { name: 'Lamp', price: 12 },
    });
    expect(decisionsOf(whole.events).map(({ decision }) => decision)).toEqual(['repair', 'repair']);
    for (const cut of appendBoundaries(whole.events)) {
      const { outcome, events } = await continueFrom(repairing, whole.events.slice(0, cut));
      expect({ cut, ...outcome.result }).toEqual({ cut, ...whole.outcome.result });
      expect({ cut, repairs: decisionsOf(events).length }).toEqual({ cut, repairs: 2 });
    }
  },
);
