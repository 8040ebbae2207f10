import type { JsonValue } from '../../../../base/json.ts';
import type { EventDraft } from '../../../../ledger/event.ts';
import { eventsAfter, readAll, readTexts, ttl, Writer } from '../harness.ts';
import type { Suite } from '../suite.ts';

const invocationId = 'run1/support';
const callId = `${invocationId}/r1.0`;

/** Events of a run with a tool call, an answer to a request and a cancel. */
const draftsOfRun: readonly EventDraft[] = [
  { type: 'user', by: 'user:42', text: 'Grüße 👋\u0000\u2028"\\' },
  {
    type: 'invocation_start',
    by: 'runtime',
    invocationId,
    kind: 'agent',
    name: 'support',
    mode: 'root',
    input: { message: 'hi' },
  },
  {
    type: 'tool_call',
    by: 'model',
    invocationId,
    callId,
    agent: 'support',
    name: 'f',
    args: { n: [1, { x: null }] },
    providerCallId: 'c',
    round: 1,
    index: 0,
  },
  {
    type: 'tool_attempt',
    by: 'runtime',
    invocationId,
    callId,
    attempt: 1,
    key: 'k',
    epoch: 1,
  },
  {
    type: 'tool_result',
    by: 'tool',
    invocationId,
    callId,
    name: 'f',
    attempt: 1,
    result: { status: 'success', content: '' },
    settled: true,
    durationMs: 0.5,
  },
  {
    type: 'tool_input',
    by: 'operator',
    callId: 'elsewhere',
    requestId: 'q',
    decision: 'answer',
    input: false,
  },
  { type: 'invocation_end', by: 'runtime', invocationId, status: 'completed', output: null },
  { type: 'cancel', by: 'user' },
];

const jsonValues: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  -1.5,
  1e300,
  5e-324,
  Number.MAX_SAFE_INTEGER,
  '',
  'Grüße 👋 \u0000\u001f\u2028 "quoted" \\ \ud800',
  [],
  {},
  [[], [[]], {}],
  { '': 0, 'a b': [1, { c: null }], constructor: 'x', toString: { length: 3 }, 7: 'seven' },
  JSON.parse('{"__proto__":{"polluted":true}}') as JsonValue,
  Array.from({ length: 500 }, (_, i) => ({ i, text: 'x'.repeat(i) })),
];

/** Promise of the stored events: they are read as they were written. */
export function contentContract(suite: Suite): void {
  eventContract(suite);
  valueContract(suite);
}

function eventContract({ describe, expect, test }: Suite): void {
  describe('what is appended', () => {
    test('comes back unchanged and frozen', async ({ ledgers }) => {
      const { epoch } = await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const written = eventsAfter(0, draftsOfRun);
      await ledgers.append('s', { seq: 0, epoch }, { events: written });
      const read = await readAll(ledgers, 's');
      expect(read).toEqual(written);
      expect(read.every((event) => Object.isFrozen(event))).toBe(true);
      const call = read[2];
      expect(
        (call?.type === 'tool_call' && Object.isFrozen((call.args as { n: object }).n)) ||
          call === written[2],
      ).toBe(true);
    });
  });
}

function valueContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('values in what is appended', () => {
    test('may be any JSON', async ({ ledgers }) => {
      const { epoch } = await ledgers.claim('s', 'writer', { ttlMs: ttl });
      const written = eventsAfter(
        0,
        jsonValues.map((input) => ({
          type: 'tool_input',
          by: 'user',
          callId: 'c',
          requestId: 'q',
          input,
        })),
      );
      await ledgers.append('s', { seq: 0, epoch }, { events: written });
      expect(await readAll(ledgers, 's')).toEqual(written);
    });

    test('may be large', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(60_000));
      await writer.write(texts);
      expect(await readTexts(ledgers, 's')).toEqual(texts);
    });
  });
}
