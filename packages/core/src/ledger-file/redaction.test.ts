import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { exported, resultIn, sessionWith } from '../../test/ledger-file/exported-result.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { secret } from '../base/secret.ts';
import { promptOf } from '../context/recipe.ts';
import { includeHistory, injectSystemMessage } from '../context/renderers.ts';
import { resolverOf } from '../replay/recorded-ledger.ts';
import { agent } from '../runnables/agent.ts';
import { sequence } from '../runnables/sequence.ts';
import { step } from '../runnables/step.ts';
import { runtime } from '../runtime.ts';
import { snapshotAt } from '../session/time-travel.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { tool } from '../tools/tool.ts';
import { runTree } from '../views/index.ts';
import { exportLedger } from './export-ledger.ts';
import { ledgerFileText } from './ledger-file.ts';
import { parseLedgerFile } from './read-ledger-file.ts';

/**
 * A session in which a value is everywhere where one can be: said, thought, called with, returned,
 * thrown, remembered, asked and answered.
 */
async function sessionFullOf(value: string) {
  const base64 = Buffer.from(`user:${value}`).toString('base64');
  const leak = tool({
    name: 'leak',
    description: `Leaks ${value}`,
    schema: z.object({ password: z.string(), note: z.string() }),
    approval: { summary: () => `Leak ${value}`, when: ({ args }) => args.note.startsWith('ask') },
    execute: async (ctx) => {
      await ctx.remember(`remember ${value}`, { key: 'fact' });
      return {
        long: `${'x'.repeat(490)}${value}${'y'.repeat(70_000)}`,
        json: JSON.stringify({ at: [value] }),
        base64,
        [value]: value,
      };
    },
  });
  const broken = tool({
    name: 'broken',
    description: 'Fails',
    schema: z.object({}),
    execute: () => Promise.reject(new Error(`no ${value}`)),
  });
  const model = scriptedModel([
    {
      thoughts: `think ${value}`,
      toolCalls: [
        { name: 'leak', args: { password: value, note: `see ${value}` } },
        { name: 'leak', args: { password: value, note: `ask ${value}` } },
        { name: 'broken' },
        { name: `no ${value}` },
        { name: 'leak', args: `{"password": ${JSON.stringify(value)}, "note": ` },
      ],
    },
    { text: `It is ${value}` },
    { text: `Inside it is ${value}` },
  ]);
  const clerk = agent({
    name: 'clerk',
    model,
    tools: [leak, broken],
    context: [injectSystemMessage(`Use ${value}`), includeHistory()],
  });
  const inner = agent({
    name: 'inner',
    model,
    input: z.object({ token: z.string(), text: z.string() }),
  });
  const passOn = step({
    name: 'pass-on',
    execute: async (ctx) => {
      ctx.state['kept'] = { deep: [value] };
      await ctx.call(inner, { data: { token: value, text: `for ${value}` } });
      await ctx
        .call(inner, {
          key: `for-${encodeURIComponent(value).replaceAll('~', '')}`,
          data: { token: value, text: 'x' },
        })
        .catch(() => undefined);
      return ctx.fail(`failed with ${value}`);
    },
  });
  const app = runtime({ app: 'shop' });
  const session = await app.sessions.open({ userId: value });
  const whole = sequence({ name: 'whole', runnables: [clerk, passOn] });
  const first = await app.run(whole, { session, input: `Use ${value}` });
  const [asked] = first.pendingCalls;
  await app.requests.answer(asked?.requestId ?? '', {
    decision: 'reject',
    reason: `because of ${value}`,
  });
  await app.resume(session);
  expect(session.events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['tool_yield', 'tool_input', 'memory', 'thought', 'state_change']),
  );
  return session;
}

/** The ways in which a value may be written down that a reader could find. */
function formsOf(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  return [
    value,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(value),
    Buffer.from(value).toString('hex'),
  ];
}

const characters = [
  ...('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ' +
    '_-.,:;!?#/\\"\'{}[]()<>&%=+*~^$|@äßéЖ漢😀'),
];
const hiddenValues = fc
  .string({ unit: fc.constantFrom(...characters), minLength: 9, maxLength: 40 })
  .filter((value) => value.trim().length > 8);

describe('a secret that is known from one place', () => {
  test('is nowhere in the file, in no form, and what is left is a whole ledger', async () => {
    await fc.assert(
      fc.asyncProperty(hiddenValues, async (value) => {
        const session = await sessionFullOf(value);
        const text = ledgerFileText(await exportLedger(session));
        expect(formsOf(value).filter((form) => text.includes(form))).toEqual([]);
        const file = parseLedgerFile(text);
        expect(file.events.map(({ type }) => type)).toEqual(session.events.map(({ type }) => type));
        const resolve = resolverOf(file.blobs);
        for (const event of file.events)
          if (event.type === 'model_start')
            expect(promptOf(file.events, event.seq, resolve)).toHaveProperty('prompt');
        expect(JSON.stringify(snapshotAt(file.events, file.events.length, resolve))).not.toContain(
          value,
        );
        expect(runTree(file.events).map(({ status }) => status)).toEqual(['error']);
        expect(file.redaction.removed).toHaveProperty('sensitive_key');
      }),
      { numRuns: 25 },
    );
  }, 60_000);

  test('not even its beginning stays, where the preview of a large value cuts it in two', async () => {
    const password = 'Tr0ub4dor-and-more-of-it';
    const session = await sessionWith({
      password,
      page: `${'x'.repeat(490)}${password}${'y'.repeat(70_000)}`,
    });
    expect(JSON.stringify(session.events)).toContain('Tr0ub4do');
    const file = await exportLedger(session);
    expect(Object.keys(file.blobs)).toHaveLength(1);
    expect(ledgerFileText(file)).not.toContain('Tr0u');
  });
});

test('what is left of a secret where a text was cut goes too', async () => {
  const password = 'supersecretvalue1';
  const value = {
    password,
    error: `Unexpected token 's', ..."assword": supersecre"... is not valid JSON`,
    log: 'login with Supersec… failed, …value1 was wrong',
    slice: 'retvalue1 and so on',
    end: 'it begins with superse',
    other: 'a super day ... at the value',
  };
  expect(await exported(value)).toEqual({
    ...value,
    password: '[redacted 1]',
    error: `Unexpected token 's', ..."assword": [redacted 1]"... is not valid JSON`,
    log: 'login with [redacted 1]… failed, …[redacted 1] was wrong',
    slice: '[redacted 1] and so on',
    end: 'it begins with [redacted 1]',
  });
});

test('nor does it stay in the message about arguments that are not JSON', async () => {
  const login = tool({
    name: 'login',
    description: 'Logs in',
    schema: z.object({ password: z.string() }),
    execute: () => 'in',
  });
  const broken =
    '{"user": "somebody with a long name", "password": supersecretvalue1, "more": "of it"}';
  const model = scriptedModel([
    {
      toolCalls: [
        { name: 'login', args: { password: 'supersecretvalue1' } },
        { name: 'login', args: broken },
      ],
    },
    { text: 'x' },
  ]);
  const { session } = await runtime({ app: 'shop' }).run(
    agent({ name: 'clerk', model, tools: [login] }),
    'Go',
  );
  expect(JSON.stringify(session.events)).toContain('supersecre\\"...');
  expect(ledgerFileText(await exportLedger(session))).not.toContain('supers');
});

describe('what always is taken out', () => {
  const key = (...parts: string[]): string => parts.join('');
  test.for<[string, string, string]>([
    [
      'the key of a provider',
      `uses ${key('sk-', 'proj-abcDEF123456789_x')} today`,
      'uses [redacted 1] today',
    ],
    ['a key of Stripe', key('sk_', 'live_51HabcDEF12345678'), '[redacted 1]'],
    ['a key of GitHub', key('ghp_', '0123456789abcdefghijABCDEFGHIJ012345'), '[redacted 1]'],
    ['a key of AWS', `id ${key('AKIA', 'IOSFODNN7EXAMPLE')}.`, 'id [redacted 1].'],
    [
      'a JSON Web Token',
      key('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0In0', '.dozjgNryP4J3jVmNHl0w5N'),
      '[redacted 1]',
    ],
    [
      'a bearer token',
      'Authorization: Bearer abcdefghijklmnop1',
      'Authorization: Bearer [redacted 1]',
    ],
    [
      'the password of a connection',
      'postgres://ann:s3cr3t-pw@db:5432/shop',
      'postgres://ann:[redacted 1]@db:5432/shop',
    ],
    [
      'a private key',
      `x ${key('-----BEGIN RSA PRIVATE', ' KEY-----')}\nMIIE\nabc\n-----END RSA PRIVATE KEY----- y`,
      'x [redacted 1] y',
    ],
    ['an assignment', 'DB_PASSWORD=hunter2 npm start', 'DB_PASSWORD=[redacted 1] npm start'],
    [
      'a member of JSON in a text',
      'said {"apiKey": "abc-def-1"} twice',
      'said {"apiKey": "[redacted 1]"} twice',
    ],
    [
      'a cookie',
      'GET / HTTP/1.1\nCookie: sid=0123456789; a=b\nHost: x',
      'GET / HTTP/1.1\nCookie: [redacted 1]\nHost: x',
    ],
    [
      'a token in an address',
      'https://x.test/?page=2&access_token=abc123&z=1',
      'https://x.test/?page=2&access_token=[redacted 1]&z=1',
    ],
  ])('%s', async ([, given, left]) => {
    expect(await exported(given)).toBe(left);
    expect(await exported(JSON.stringify({ body: given }))).toBe(JSON.stringify({ body: left }));
  });

  test(
    'what stands under the name of a secret, also as header, as pair, in JSON within a text, ' +
      'and by its parts',
    async () => {
      const basic = Buffer.from('ann:open-sesame-1').toString('base64');
      const result = {
        headers: { Authorization: `Basic ${basic}`, accept: 'text/html' },
        pairs: [
          ['Set-Cookie', 'sid=0123456789abc; Path=/'],
          ['Accept', 'text/html'],
        ],
        list: [{ name: 'X-Api-Key', value: 'plain-looking-value' }],
        text: JSON.stringify({ user: 'ann', login: { passphrase: 'correct horse battery' } }),
        said: `It was ${basic}, that is open-sesame-1, then sid 0123456789abc.`,
        credentials: { user: 'ann-the-first', pin: 123456 },
        pin: 'is 123456',
      };
      const redacted = (await exported(result)) as JsonObject;
      const text = JSON.stringify(redacted);
      const hidden = [
        basic,
        'open-sesame-1',
        '0123456789abc',
        'plain-looking-value',
        'correct horse battery',
        'ann-the-first',
        '123456',
      ];
      expect(hidden.filter((value) => text.includes(value))).toEqual([]);
      expect(redacted).toMatchObject({
        headers: { accept: 'text/html' },
        list: [{ name: 'X-Api-Key' }],
      });
      expect(redacted['pairs']).toMatchObject([
        ['Set-Cookie', expect.stringMatching(/^\[redacted/)],
        ['Accept', 'text/html'],
      ]);
      expect(JSON.parse(redacted['text'] as string)).toMatchObject({
        user: 'ann',
        login: { passphrase: expect.stringMatching(/^\[redacted/) },
      });
    },
  );

  test('what was made by secret(), wherever it got to', async () => {
    const made = secret('PORTAL', 'nothing special about it');
    const file = await exportLedger(await sessionWith({ note: `the key is ${made.reveal()}` }));
    expect(resultIn(file)).toEqual({ note: 'the key is [redacted 1]' });
    expect(file.redaction.removed).toEqual({ 'secret PORTAL': 1 });
  });

  test.for<JsonValue>([
    'The password: it is required. My token of love; authorization needed. Cookie: a sweet ' +
      'thing. sk-learn and risk-free',
    {
      maxTokens: 17,
      passwordPolicy: 'long ones',
      required: ['password', 'note'],
      note: 'note',
      tokens: ['a', 'word'],
      publicKey: 'abc-def-ghi',
    },
    {
      type: 'object',
      properties: { password: { type: 'string', description: 'at least 8 signs' } },
      required: ['password'],
    },
    { password: '', token: null, secret: true, cookie: { $secret: 'SESSION' } },
    [['name', 'ann'], ['city', 'Bern'], 'cookie', 'jar'],
  ])('and nothing that only looks like it: %j', async (value) => {
    expect(await exported(value)).toEqual(value);
  });

  test('a short or everyday value goes where it stands, and stays a word elsewhere', async () => {
    const value = {
      password: 'required',
      token: 'ab',
      text: 'ab is required here',
      schema: { required: ['ab'] },
    };
    expect(await exported(value)).toEqual({
      ...value,
      password: '[redacted 1]',
      token: '[redacted 2]',
    });
  });
});
