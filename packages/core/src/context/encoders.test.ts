import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Event } from '../ledger/event.ts';
import type { PromptEvent } from '../runnables/render-context.ts';
import { messageEncoder } from './encoders.ts';
import type { EncoderVersion } from './message-encoder.ts';

interface Golden {
  readonly pushes: readonly { readonly event: PromptEvent; readonly native: boolean }[];
  readonly prompts: Readonly<
    Record<EncoderVersion, { readonly messages: unknown; readonly characters: number }>
  >;
}

const golden = JSON.parse(
  readFileSync(new URL('../../test/fixtures/prompts/encoders.json', import.meta.url), 'utf8'),
) as Golden;

function encode(encoder: EncoderVersion, pushes: Golden['pushes']) {
  const made = messageEncoder({
    encoder,
    resultLimit: 200,
    resolve: (value) => value,
    toolName: (name) => name.replace('.', '__'),
  });
  for (const { event, native } of pushes) made.push(event, native);
  return { messages: made.messages(), characters: made.characters };
}

test.each([1, 2, 3] as const)(
  'encoder %i gives what it has always given: recorded prompts are rebuilt with it',
  (encoder) => {
    expect(JSON.parse(JSON.stringify(encode(encoder, golden.pushes)))).toEqual(
      golden.prompts[encoder],
    );
  },
);

let seq = 0;
const event = (type: Event['type'], data: object) => ({
  native: true,
  event: {
    v: 1,
    seq: ++seq,
    id: `e${seq}`,
    at: 1,
    by: 'runtime',
    invocationId: 'run',
    type,
    ...data,
  } as PromptEvent,
});

function resultFor(result: object, notes?: readonly string[]) {
  const call = event('tool_call', {
    callId: 'run/r1.0',
    agent: 'a',
    name: 'look',
    args: {},
    providerCallId: 'p1',
    round: 1,
    index: 0,
  });
  const settled = event('tool_result', {
    callId: 'run/r1.0',
    name: 'look',
    attempt: 1,
    settled: true,
    durationMs: 1,
    result,
    notes,
  });
  const message = encode(3, [call, settled]).messages[1];
  return message?.role === 'tool' && message.content[0]?.type === 'tool-result'
    ? message.content[0].output
    : undefined;
}

test.each([
  [
    'a plain text',
    { status: 'success', content: 'found' },
    undefined,
    { type: 'text', value: 'found' },
  ],
  [
    'plain JSON',
    { status: 'success', content: { n: 1 } },
    undefined,
    { type: 'json', value: { n: 1 } },
  ],
  [
    'a failure',
    {
      status: 'error_permanent',
      content: 'No such page',
      errorType: 'http_404',
      alternatives: ['search', 'ask'],
    },
    ['Search for the right address.'],
    {
      type: 'error-text',
      value:
        '[error_permanent] No such page\nError type: http_404\nInstead: search; ' +
        'ask\nSearch for the right address.',
    },
  ],
  [
    'a part',
    { status: 'partial', content: { n: 1 } },
    undefined,
    { type: 'text', value: '[partial] {"n":1}' },
  ],
  [
    'a doubtful success',
    { status: 'success', content: 'maybe', confidence: 0.3 },
    ['It looks like a captcha.'],
    {
      type: 'text',
      value: 'maybe\nIt looks like a captcha.\n[Low confidence: check this before you rely on it.]',
    },
  ],
  [
    'nothing said of a timeout',
    { status: 'timeout', content: '' },
    undefined,
    { type: 'error-text', value: '[timeout]' },
  ],
])('encoder 3: %s', (_name, result, notes, output) => {
  expect(resultFor(result, notes)).toEqual(output);
});

test(
  'what is shortened says how much there is and which call gave it, and notes are never cut ' +
    'off',
  () => {
    const output = resultFor({ status: 'success', content: 'word '.repeat(200) }, [
      'Mind the gap.',
    ]);
    const value = output?.type === 'text' ? output.value : '';
    const [shortened, note] = [
      value.slice(0, value.lastIndexOf('\n')),
      value.slice(value.lastIndexOf('\n') + 1),
    ];
    expect(shortened.length).toBeLessThanOrEqual(200);
    expect(shortened).toContain(
      '\n[...truncated] The whole result has 1000 characters. Call id: run/r1.0',
    );
    expect(note).toBe('Mind the gap.');
  },
);

test(
  'encoder 3 tells what was decided about the agent, what is to be remembered and what was ' +
    'summarised; encoder 2 knows nothing of it',
  () => {
    const pushes = [
      event('decision', {
        component: 'loop_detector',
        decision: 'warn',
        reasoning: 'x',
        tell: 'You repeat yourself.',
      }),
      {
        ...event('decision', {
          component: 'loop_detector',
          decision: 'warn',
          reasoning: 'x',
          tell: 'Not for you.',
        }),
        native: false,
      },
      event('memory', { text: 'The customer is deaf.' }),
      event('compaction', {
        covers: [],
        overlap: 0,
        summary: 'Much was said.',
        tokensBefore: 2,
        tokensAfter: 1,
      }),
    ];
    const texts = (encoder: EncoderVersion) =>
      encode(encoder, pushes).messages.map((message) => JSON.stringify(message.content));
    expect(texts(3).join('\n')).toMatch(
      /You repeat yourself\..*\n.*Remember: The customer is deaf\..*\n.*Much was said\./,
    );
    expect(texts(3)).toHaveLength(3);
  },
);

test(
  'encoder 3 shows the data that an invocation was started with, behind its message; encoder ' +
    '2 shows the message alone',
  () => {
    const pushes = [
      event('invocation_start', {
        kind: 'agent',
        name: 'a',
        mode: 'call',
        input: { message: 'Do it', data: { id: 17 } },
      }),
    ];
    const texts = (encoder: EncoderVersion) =>
      encode(encoder, pushes).messages.map((message) =>
        message.role === 'user' ? message.content[0] : undefined,
      );
    expect(texts(3)).toEqual([
      { type: 'text', text: 'Do it' },
      { type: 'text', text: '{"id":17}' },
    ]);
    expect(texts(2)).toEqual([{ type: 'text', text: 'Do it' }]);
  },
);
