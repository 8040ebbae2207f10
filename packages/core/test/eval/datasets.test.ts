import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseDataset, readDataset } from 'adjutant/eval';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';

const fixture = (name: string): URL => new URL(`./fixtures/${name}`, import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'adjutant-datasets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

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
      // What is not read is there for scorers of one's own.
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

describe('what cannot be read says where and why', () => {
  const adk = (turn: unknown): unknown => ({ eval_id: 'x', conversation: [turn] });
  test.each<[string, unknown, string, RegExp]>([
    ['no object', 7, '$', /an object is expected, not 7/],
    ['nothing', undefined, '$', /an object is missing/],
    ['a case without an id', [{ input: 'Hi' }], '$[0].id', /not empty is missing/],
    ['an empty id', [{ id: ' ', input: 'Hi' }], '$[0].id', /is expected, not " "/],
    ['a very long id', [{ id: 'x'.repeat(201), input: 'Hi' }], '$[0].id', /at most 200 characters/],
    [
      'a wrong member',
      { cases: [{ id: 'a', inputs: 'Hi' }] },
      '$.cases[0]',
      /no member `inputs` \(did you mean `input`\?\)/,
    ],
    ['nothing said', [{ id: 'a' }], '$[0]', /one of `input`, `turns` and `scenario`/],
    ['said twice', [{ id: 'a', input: 'Hi', turns: ['Ho'] }], '$[0]', /only one of them/],
    ['no turns', [{ id: 'a', turns: [] }], '$[0].turns', /at least one turn/],
    ['an empty turn', [{ id: 'a', turns: [''] }], '$[0].turns[0]', /not empty is expected/],
    [
      'a wrong tool',
      [{ id: 'a', input: 'Hi', expect: { tools: [{ tool: 'x' }] } }],
      '$[0].expect.tools[0]',
      /no member `tool`/,
    ],
    [
      'wrong arguments',
      [{ id: 'a', input: 'Hi', expect: { tools: [{ name: 'x', args: [1] }] } }],
      '$[0].expect.tools[0].args',
      /an object is expected/,
    ],
    [
      'a broken expression',
      [{ id: 'a', input: 'Hi', expect: { tools: [{ name: 'x', args: { y: { $regex: '(' } } }] } }],
      '$[0].expect.tools[0].args.y.$regex',
      /not a regular expression/,
    ],
    [
      'wrong flags',
      [{ id: 'a', input: 'Hi', expect: { response: { matches: 'x', flags: 'zz' } } }],
      '$[0].expect.response.matches',
      /not a regular expression/,
    ],
    [
      'an expression for a response',
      [{ id: 'a', input: 'Hi', expect: { response: /x/ } }],
      '$[0].expect.response',
      /goes into `matches`/,
    ],
    [
      'flags of nothing',
      [{ id: 'a', input: 'Hi', expect: { response: { equals: 'x', flags: 'i' } } }],
      '$[0].expect.response.flags',
      /flags belong/,
    ],
    [
      'an empty requirement',
      [{ id: 'a', input: 'Hi', expect: { response: {} } }],
      '$[0].expect.response',
      /one of `equals`/,
    ],
    [
      'a wrong approval',
      [{ id: 'a', input: 'Hi', approvals: 'perhaps' }],
      '$[0].approvals',
      /'approve', 'reject' is expected/,
    ],
    [
      'an edit without arguments',
      [{ id: 'a', input: 'Hi', approvals: [{ decision: 'edit' }] }],
      '$[0].approvals[0]',
      /`input` is missing/,
    ],
    [
      'an approval with input',
      [{ id: 'a', input: 'Hi', approvals: [{ decision: 'approve', input: 1 }] }],
      '$[0].approvals[0].input',
      /takes no input/,
    ],
    [
      'a turn limit of 0',
      [{ starting_prompt: 'Hi', conversation_plan: 'P', max_turns: 0 }],
      '$[0].max_turns',
      /a whole number from 1/,
    ],
    [
      'a date',
      [{ id: 'a', input: 'Hi', state: { at: new Date(0) } }],
      '$[0].state.at',
      /instance of Date is not JSON/,
    ],
    [
      'a number that is none',
      [{ id: 'a', input: 'Hi', expect: { state: { n: Number.NaN } } }],
      '$[0].expect.state.n',
      /not NaN/,
    ],
    [
      'an ADK turn without a user',
      adk({}),
      '$.conversation[0].user_content',
      /an object is missing|says nothing/,
    ],
    [
      'an ADK turn with a picture',
      adk({ user_content: { parts: [{ inline_data: {} }] } }),
      '$.conversation[0].user_content.parts[0]',
      /only text can be read, and this part has `inline_data`/,
    ],
    [
      'an ADK case without turns',
      { eval_id: 'x', conversation: [] },
      '$.conversation',
      /at least one invocation/,
    ],
    [
      'ADK tools that are no list',
      adk({ user_content: 'Hi', intermediate_data: { tool_uses: {} } }),
      '$.conversation[0].intermediate_data.tool_uses',
      /a list is expected/,
    ],
  ])('%s', (_, document, path, reason) => {
    expect(() => parseDataset(document, 'x.json')).toThrow(
      expect.objectContaining({
        code: 'invalid_dataset',
        data: expect.objectContaining({ path, reason: expect.stringMatching(reason) }),
      }),
    );
  });

  test('two cases of one id', () => {
    expect(() =>
      parseDataset([
        { id: 'a', input: 'Hi' },
        { eval_id: 'a', conversation: [{ user_content: 'Ho' }] },
      ]),
    ).toThrow(/cases 1 and 2: both have the id "a"/);
  });

  test('names that mean something to JavaScript are names', () => {
    const dataset = parseDataset(
      JSON.parse(
        '[{"id":"__proto__","input":"Hi","state":{"__proto__":1},"expect":{"state":{"constructor":"x"}}}]',
      ),
    );
    expect(dataset.cases[0]?.id).toBe('__proto__');
    expect(JSON.stringify(dataset.cases[0]?.state)).toBe('{"__proto__":1}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('whatever it is, it is a dataset or is refused with its place', () => {
    const names = fc.constantFrom(
      'id',
      'input',
      'turns',
      'user',
      'expect',
      'tools',
      'name',
      'args',
      'response',
      'approvals',
      'scenario',
      'state',
      'cases',
    );
    const adkNames = fc.constantFrom(
      'eval_cases',
      'eval_id',
      'conversation',
      'user_content',
      'parts',
      'text',
      'intermediate_data',
      'tool_uses',
      'session_input',
    );
    const { document } = fc.letrec((tie) => ({
      document: fc.oneof(
        { maxDepth: 6 },
        fc.anything(),
        fc.array(tie('document'), { maxLength: 3 }),
        fc.dictionary(fc.oneof(names, adkNames), tie('document')),
      ),
    }));
    fc.assert(
      fc.property(document, (given) => {
        try {
          expect(parseDataset(given).cases).toBeInstanceOf(Array);
        } catch (error) {
          expect(error).toMatchObject({
            code: 'invalid_dataset',
            data: { path: expect.any(String), reason: expect.any(String) },
          });
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('what is nested too deep', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
    expect(() => parseDataset([{ id: 'a', input: 'Hi', state: { deep } }])).toThrow(/nested/);
    const ring: { own?: unknown; other?: unknown } = {};
    ring.own = ring;
    ring.other = ring;
    expect(() => parseDataset([{ id: 'a', input: 'Hi', state: ring }])).toThrow(/nested/);
  });

  test.each<[string, string, RegExp]>([
    ['broken.json', '[{', /it is not JSON/],
    ['broken.jsonl', '{"id":"a","input":"x"}\n{', /at line 2: it is not JSON/],
    ['broken.yaml', 'a: [1', /it is not YAML/],
    ['twice.yaml', 'id: a\nid: b\ninput: c\n', /it is not YAML \(Map keys must be unique/],
    [
      'bomb.yaml',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c ` +
        `[*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`,
      /it is not YAML/,
    ],
    ['empty.json', '', /it is not JSON/],
    ['names.csv', 'a,b', /its name must end with one of/],
    ['nothing.mjs', 'export const other = 1;', /it exports no `default`, `dataset` or `cases`/],
    ['failing.mjs', "throw new Error('no luck');", /loading it failed: no luck/],
  ])('the file %s', async (name, text, reason) => {
    const path = file(name, text);
    await expect(readDataset(path)).rejects.toThrow(reason);
    await expect(readDataset(path)).rejects.toMatchObject({
      code: 'invalid_dataset',
      data: { source: path },
    });
  });

  test('a file that is not there', async () => {
    await expect(readDataset(join(folder, 'none.json'))).rejects.toThrow(
      /none\.json cannot be read: ENOENT/,
    );
  });
});
