import { join } from 'node:path';
import { parseDataset, readDataset } from 'adjutant/eval';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { file, testFolder } from './dataset-files.ts';

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
    await expect(readDataset(join(testFolder(), 'none.json'))).rejects.toThrow(
      /none\.json cannot be read: ENOENT/,
    );
  });
});
