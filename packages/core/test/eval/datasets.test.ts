import { pathToFileURL } from 'node:url';
import { parseDataset, readDataset } from 'adjutant/eval';
import { describe, expect, test } from 'vitest';
import { file } from './dataset-files.ts';

const fixture = (name: string): URL => new URL(`./fixtures/${name}`, import.meta.url);

describe('files of the ADK', () => {
  test('one case', async () => {
    const { cases } = await readDataset(fixture('one-case.json'));
    expect(cases).toEqual([
      {
        id: 'weather_query',
        tags: [],
        turns: [
          {
            user: 'What is the weather in Bangalore?',
            expect: {
              tools: [{ name: 'search_web', args: { query: 'weather Bangalore' } }],
              response: 'It is 28C and partly cloudy in Bangalore.',
            },
          },
        ],
        approvals: [],
        expect: {},
        metadata: {},
      },
    ]);
  });

  test(
    'an eval set with parts, session input, camel case, invocation events and ' + 'a scenario',
    async () => {
      const { name, description, cases } = await readDataset(fixture('lights.evalset.json'));
      expect([name, description]).toEqual([
        'lights_in_the_house',
        'Switching lights on and off, one room at a time',
      ]);
      expect(cases.map(({ id }) => id)).toEqual(['bedroom_off', 'camel_case', 'planned']);
      const [lights, camel, planned] = cases;
      expect(lights).toMatchObject({ userId: 'test_user', state: { floor: 2 } });
      expect(lights?.turns).toEqual([
        {
          user: 'Which lights are on?',
          expect: {
            tools: [{ name: 'list_lights', args: {} }],
            response: 'Only the bedroom light is on.',
          },
        },
        {
          user: 'Turn it off.',
          expect: { tools: [{ name: 'set_light', args: { room: 'bedroom', on: false } }] },
        },
      ]);
      // Members that are not read are there for scorers of one's own.
      expect(lights?.metadata).toMatchObject({ rubrics: [{ rubric_id: 'polite' }] });
      expect(camel).toMatchObject({
        turns: [
          {
            user: 'Good morning',
            expect: {
              tools: [{ name: 'greet', args: { tone: { $regex: '^warm' } } }],
              response: 'Good morning!',
            },
          },
        ],
        userId: 'ann',
        expect: { state: { greeted: true } },
      });
      expect(camel).not.toHaveProperty('state');
      expect(planned).toMatchObject({
        turns: [],
        scenario: {
          startingPrompt: 'Hello',
          conversationPlan: 'Ask for all lights to be turned off.',
          maxTurns: 10,
        },
      });
    },
  );

  test('scenarios have their places as ids', async () => {
    const { cases } = await readDataset(fixture('scenarios.json'));
    expect(cases.map(({ id, scenario }) => [id, scenario?.maxTurns])).toEqual([
      ['scenario-1', 6],
      ['scenario-2', 10],
    ]);
    expect(
      parseDataset({ scenarios: [{ starting_prompt: 'Hi', conversation_plan: 'Talk.' }] }).cases,
    ).toHaveLength(1);
  });
});

describe('files of our own', () => {
  test('YAML', async () => {
    const { name, cases } = await readDataset(fixture('own.yaml'));
    expect(name).toBe('Shop');
    expect(cases[0]).toEqual({
      id: 'order',
      tags: ['orders', 'smoke'],
      turns: [{ user: 'Two lamps, please' }],
      state: { mode: 'shop' },
      approvals: [],
      expect: {
        tools: [{ name: 'order', args: { product: 'lamp', pieces: 2 } }, { name: 'checkStock' }],
        response: { contains: ['lamps', '2'], excludes: 'sorry' },
        state: { ordered: { $any: true } },
      },
      metadata: {},
    });
    expect(cases[1]).toMatchObject({
      turns: [
        {
          user: 'I want to give a lamp back',
          expect: { response: { matches: 'order number', flags: 'i' } },
        },
        { user: 'It is 4711' },
      ],
      approvals: [{ tool: 'refund', decision: 'edit', input: { amount: 10 }, reason: 'Too much' }],
      metadata: { level: 'hard' },
    });
  });

  test('a line for each case', async () => {
    expect(
      (await readDataset(fixture('lines.jsonl'))).cases.map(({ id, turns }) => [
        id,
        turns[0]?.user,
      ]),
    ).toEqual([
      ['a', 'One'],
      ['b', 'Two'],
    ]);
  });

  test('a module, with regular expressions', async () => {
    const { cases } = await readDataset(fixture('typed.mts'));
    expect(cases[0]?.expect).toEqual({
      tools: [{ name: 'greet', args: { name: /^A/ } }],
      response: { matches: /hello/i },
    });
  });

  test(
    'a byte order mark is no part of the file, and paths are URLs, URL ' + 'texts or paths',
    async () => {
      const path = file('mark.json', '\uFEFF[{"id":"a","input":"Hi"}]');
      for (const place of [path, pathToFileURL(path), pathToFileURL(path).href])
        expect((await readDataset(place)).cases).toHaveLength(1);
    },
  );

  test('what was read can be given again', () => {
    const dataset = parseDataset({
      cases: [
        { id: 'a', turns: ['Hi', { user: 'Bye' }], approvals: 'approve' },
        { id: 'b', scenario: { startingPrompt: 'Hi', conversationPlan: 'P' } },
      ],
    });
    expect(parseDataset(dataset).cases).toEqual(dataset.cases);
  });

  test('an empty dataset is one', () => {
    expect(parseDataset([]).cases).toEqual([]);
  });
});
