import type { JsonValue } from '../../../base/json.ts';
import { randomFromSeed } from '../../../base/random.ts';
import {
  codeOf,
  errorOf,
  eventsAfter,
  notes,
  readAll,
  readTexts,
  type Suite,
  ttl,
  Writer,
} from './harness.ts';

export function appendContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('append', () => {
    test('puts events behind the head and answers with the new one', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      expect(await writer.write(['a', 'b'])).toMatchObject({ seq: 2, epoch: 1, inboxSeq: 0 });
      expect(await writer.write(['c'])).toMatchObject({ seq: 3, epoch: 1, inboxSeq: 0 });
      expect(await ledgers.head('s')).toEqual({ seq: 3, epoch: 1, inboxSeq: 0 });
      expect((await readAll(ledgers, 's')).map((event) => event.seq)).toEqual([1, 2, 3]);
    });

    test('keeps the order of batches that are sent without waiting', async ({ ledgers }) => {
      const { epoch } = await ledgers.claim('s', 'writer', { ttl });
      const sent = Array.from({ length: 50 }, (_, seq) =>
        ledgers.append('s', { seq, epoch }, { events: notes(seq, [`n${seq}`]) }),
      );
      expect((await Promise.all(sent)).map((receipt) => receipt.seq)).toEqual(
        Array.from({ length: 50 }, (_, i) => i + 1),
      );
      expect(await readTexts(ledgers, 's')).toEqual(Array.from({ length: 50 }, (_, i) => `n${i}`));
    });

    test('refuses another head and writes nothing then', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a', 'b']);
      for (const seq of [0, 1, 3, 100]) {
        expect(
          await codeOf(ledgers.append('s', { seq, epoch: 1 }, { events: notes(seq, ['x']) })),
        ).toBe('ledger_conflict');
      }
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b']);
    });

    test('says in the error what was expected and what was found', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a', 'b']);
      const error = await errorOf(
        ledgers.append('s', { seq: 9, epoch: 1 }, { events: notes(9, ['x']) }),
      );
      expect(error).toMatchObject({
        data: { session: 's', expected: { seq: 9, epoch: 1 }, found: { seq: 2, epoch: 1 } },
      });
    });

    test('refuses an unknown session', async ({ ledgers }) => {
      expect(
        await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, { events: notes(0, ['x']) })),
      ).toBe('ledger_conflict');
      expect(await ledgers.head('s')).toBeUndefined();
    });
  });
  refusalContract(suite);
  resendContract(suite);
  fencingContract(suite);
  contentContract(suite);
}

function refusalContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('append of what cannot be', () => {
    test('refuses events that are not numbered from the head on', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttl });
      const [first, , third] = notes(0, ['a', 'b', 'c']);
      for (const events of [[third], [first, third], notes(1, ['x'])]) {
        expect(
          await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, { events: events as never })),
        ).toBe('RangeError');
      }
      expect(await ledgers.head('s')).toEqual({ seq: 0, epoch: 1, inboxSeq: 0 });
    });

    test('refuses a writer without a claim', async ({ ledgers }) => {
      await (await Writer.claim(ledgers, 's')).write(['a']);
      await ledgers.fork('s', 1, 'fork');
      expect(
        await codeOf(ledgers.append('fork', { seq: 1, epoch: 0 }, { events: notes(1, ['x']) })),
      ).toBe('RangeError');
    });

    test('takes a batch without events', async ({ ledgers }) => {
      const writer = await Writer.claim(ledgers, 's');
      await writer.write(['a']);
      expect(await writer.write([])).toMatchObject({ seq: 1, epoch: 1, inboxSeq: 0 });
    });
  });
}

function resendContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('the same batch sent again', () => {
    test('succeeds with the same answer and is not written twice', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttl });
      const batch = { events: notes(0, ['a', 'b']) };
      const { seq, epoch, inboxSeq } = await ledgers.append('s', { seq: 0, epoch: 1 }, batch);
      expect(await ledgers.append('s', { seq: 0, epoch: 1 }, batch)).toMatchObject({
        seq,
        epoch,
        inboxSeq,
      });
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b']);
    });

    test('succeeds also when later batches have landed', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttl });
      const batch = { events: notes(0, ['a', 'b']) };
      await ledgers.append('s', { seq: 0, epoch: 1 }, batch);
      await ledgers.append('s', { seq: 2, epoch: 1 }, { events: notes(2, ['c']) });
      expect((await ledgers.append('s', { seq: 0, epoch: 1 }, batch)).seq).toBe(2);
      expect(await readTexts(ledgers, 's')).toEqual(['a', 'b', 'c']);
    });

    test('does not apply its shared writes twice', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttl });
      const batch = {
        events: notes(0, ['a']),
        shared: [{ scope: 'user', scopeId: '1', key: 'n', value: 1, baseVersion: 0 }],
      };
      await ledgers.append('s', { seq: 0, epoch: 1 }, batch);
      await ledgers.append('s', { seq: 0, epoch: 1 }, batch);
      expect(await ledgers.readShared('user', '1')).toEqual({ n: { value: 1, version: 1 } });
    });

    test('a batch that is only partly in the ledger is another batch', async ({ ledgers }) => {
      await ledgers.claim('s', 'writer', { ttl });
      const [a, b] = notes(0, ['a', 'b']);
      await ledgers.append('s', { seq: 0, epoch: 1 }, { events: [a as never] });
      expect(
        await codeOf(
          ledgers.append('s', { seq: 0, epoch: 1 }, { events: [a as never, b as never] }),
        ),
      ).toBe('ledger_conflict');
      const other = notes(0, ['a']);
      expect(await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, { events: other }))).toBe(
        'ledger_conflict',
      );
      expect(await readTexts(ledgers, 's')).toEqual(['a']);
    });

    test('is refused when another writer has claimed the ledger in between', async ({
      ledgers,
    }) => {
      await ledgers.claim('s', 'writer', { ttl });
      const batch = { events: notes(0, ['a']) };
      await ledgers.append('s', { seq: 0, epoch: 1 }, batch);
      await ledgers.claim('s', 'other', { ttl, force: true });
      expect(await codeOf(ledgers.append('s', { seq: 0, epoch: 1 }, batch))).toBe(
        'ledger_conflict',
      );
    });
  });
}

function fencingContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('fencing', () => {
    test('a writer that wakes up after another claim writes nothing', async ({ ledgers }) => {
      const zombie = await Writer.claim(ledgers, 's', 'zombie');
      await zombie.write(['before']);
      const next = await Writer.claim(ledgers, 's', 'next');
      expect(await codeOf(zombie.write(['late']))).toBe('ledger_conflict');
      await next.write(['after']);
      expect(await codeOf(zombie.write(['later']))).toBe('ledger_conflict');
      expect(await readTexts(ledgers, 's')).toEqual(['before', 'after']);
    });

    test('of two writers at one head exactly one succeeds, whatever the interleaving', async ({
      ledgers,
    }) => {
      for (let run = 0; run < 40; run++) {
        const steps = randomSteps(`race ${run}`);
        const confirmed = await raceWriters(ledgers, `race ${run}`, steps);
        expect(await readTexts(ledgers, `race ${run}`), steps.join(', ')).toEqual(confirmed);
      }
    });
  });
}

const writerSteps = ['claim 0', 'claim 1', 'write 0', 'write 1'] as const;

function randomSteps(seed: string): readonly string[] {
  const length = Math.floor(randomFromSeed(`${seed} length`) * 30);
  return Array.from(
    { length },
    (_, i) =>
      writerSteps[Math.floor(randomFromSeed(`${seed} ${i}`) * writerSteps.length)] as string,
  );
}

/**
 * Lets two writers act as given, with all steps sent at once. Returns the texts whose append was
 * confirmed.
 */
async function raceWriters(
  ledgers: Parameters<typeof readTexts>[0],
  session: string,
  steps: readonly string[],
): Promise<readonly string[]> {
  await ledgers.claim(session, 'first', { ttl });
  const heads = [
    { seq: 0, epoch: 1 },
    { seq: 0, epoch: 1 },
  ];
  let epoch = 1;
  const confirmed: { text: string; seq: number }[] = [];
  const sent = steps.map(async (step, i) => {
    const head = heads[Number(step.at(-1))];
    if (head === undefined) return;
    if (step.startsWith('claim')) {
      head.epoch = ++epoch;
      await ledgers.claim(session, step, { ttl, force: true });
      return;
    }
    const text = `${step} ${i}`;
    const at = { ...head };
    head.seq += 1;
    if (
      (await codeOf(ledgers.append(session, at, { events: notes(at.seq, [text]) }))) === 'resolved'
    )
      confirmed.push({ text, seq: at.seq });
  });
  await Promise.all(sent);
  return confirmed.sort((left, right) => left.seq - right.seq).map(({ text }) => text);
}

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

function contentContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('what is appended', () => {
    test('comes back unchanged and frozen', async ({ ledgers }) => {
      const { epoch } = await ledgers.claim('s', 'writer', { ttl });
      const invocationId = 'run1/support';
      const callId = `${invocationId}/r1.0`;
      const written = eventsAfter(0, [
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
      ]);
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
  valueContract(suite);
}

function valueContract(suite: Suite): void {
  const { describe, expect, test } = suite;
  describe('values in what is appended', () => {
    test('may be any JSON', async ({ ledgers }) => {
      const { epoch } = await ledgers.claim('s', 'writer', { ttl });
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
