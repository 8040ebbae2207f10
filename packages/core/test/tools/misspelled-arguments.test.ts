import { agent, type Event, type JsonObject, run, runtime, tool } from 'adjutant';
import { replay } from 'adjutant/replay';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const results = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'tool_result' ? event.result : []));

/** An agent that calls a tool with these arguments. */
const calling = (schema: unknown, args: JsonObject, more: readonly ScriptedResponse[] = []) => {
  const given: unknown[] = [];
  const list = tool({
    name: 'list',
    description: 'Lists',
    schema: schema as object as never,
    execute: (ctx) => {
      given.push(ctx.args);
      return 'listed';
    },
  });
  const responses = [{ toolCalls: [{ name: 'list', args }] }, ...more, { text: 'Done.' }];
  const lister = agent({ name: 'lister', model: scriptedModel(responses), tools: [list] });
  return { lister, given };
};

const page = z.object({ size: z.number().optional() });
const filter = { folder: z.string(), limit: z.number().optional(), page: page.optional() };
const written = {
  type: 'object',
  properties: {
    folder: { type: 'string' },
    limit: { type: 'number' },
    rows: { type: 'array', items: { type: 'object', properties: { title: {} } } },
  },
  required: ['folder'],
};

describe('an optional argument that is misspelled', () => {
  test.each<readonly [string, unknown, JsonObject, string]>([
    ['of zod', z.object(filter), { folder: 'a', limt: 5 }, '$.limt'],
    ['of zod, deeper', z.object(filter), { folder: 'a', page: { sise: 5 } }, '$.page.sise'],
    ['of JSON Schema', written, { folder: 'a', Limit: 5 }, '$.Limit'],
    [
      'of JSON Schema, in a list',
      written,
      { folder: 'a', rows: [{ titel: 1 }] },
      '$.rows[0].titel',
    ],
  ])(
    '%s is told to the model, and the tool does not run without it',
    async (_of, schema, args, path) => {
      const { lister, given } = calling(schema, args, [
        { toolCalls: [{ name: 'list', args: { folder: 'a' } }] },
      ]);
      const { session } = await run(lister, 'Go');
      expect(given).toEqual([{ folder: 'a' }]);
      const [refused, listed] = results(session.events);
      expect(refused).toMatchObject({ status: 'error_permanent', errorType: 'validation_error' });
      expect(refused?.content).toContain(`${path}: `);
      expect(refused?.content).toMatch(/no member of this name \(did you mean "\w+"\?\)/);
      expect(listed?.status).toBe('success');
    },
  );

  test.each<readonly [string, unknown, JsonObject]>([
    ['it is like none', z.object(filter), { folder: 'a', colour: 'red' }],
    ['the argument is given too', z.object(filter), { folder: 'a', limit: 1, limt: 5 }],
    ['the schema allows others', z.looseObject(filter), { folder: 'a', limt: 5 }],
    [
      'JSON Schema allows others',
      { ...written, additionalProperties: true },
      { folder: 'a', limt: 5 },
    ],
    ['the schema may be another one', { anyOf: [written, {}] }, { folder: 'a', limt: 5 }],
  ])('is left alone when %s', async (_when, schema, args) => {
    const { lister, given } = calling(schema, args);
    const { session } = await run(lister, 'Go');
    expect(given).toHaveLength(1);
    expect(results(session.events)).toMatchObject([{ status: 'success' }]);
  });

  test('is refused again in a replay, and taken there where the record has taken it', async () => {
    const strange = { folder: 'a', limt: 5 };
    const { lister } = calling(z.object(filter), strange);
    const app = runtime({ app: 'lists', recover: 'manual', runnables: [lister] });
    const { session } = await app.run(lister, { input: 'Go', session: 'new' });
    expect(await replay(session, app)).toMatchObject({ divergence: undefined });

    // A ledger of an earlier version, which took what is refused now.
    const { lister: other } = calling(z.object(filter), { folder: 'a', colour: 5 });
    const recording = runtime({ app: 'lists', recover: 'manual', runnables: [other] });
    const { session: recorded } = await recording.run(other, { input: 'Go' });
    const events = JSON.parse(JSON.stringify(recorded.events).replaceAll('colour', 'limt'));
    const old = await recording.sessions.restore({ app: 'lists', id: 'old', events });
    expect(await replay(old, recording)).toMatchObject({ divergence: undefined });
  });
});
