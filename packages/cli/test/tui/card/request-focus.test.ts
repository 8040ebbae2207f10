import { agent, type Runtime, runtime, tool } from 'adjutant';
import { scriptedModel, type TestClock, testClock } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { requestCard } from '../../../src/tui/card/request-card.ts';
import { RequestFocus } from '../../../src/tui/card/request-focus.ts';
import type { Input } from '../../../src/tui/editor/keys.ts';
import { Feed } from '../../../src/tui/feed/feed.ts';
import { textOfLine } from '../../../src/tui/text/spans.ts';

const space = { columns: 80, rows: 24, ascii: false };

interface Asked {
  readonly app: Runtime;
  readonly clock: TestClock;
  readonly focus: RequestFocus;
  readonly feed: Feed;
  /** Milliseconds that have passed. */
  wait(ms: number): void;
  /** Gives keys, and waits for what becomes of the answer. */
  press(...inputs: readonly Input[]): Promise<void>;
  failures: string[];
  text(): string;
}

const refund = tool({
  name: 'refund',
  description: 'Pays an order back',
  // Nothing of this is in the schema that a form has.
  schema: z.object({
    order: z.number(),
    cents: z.number().refine((cents) => cents <= 5_000, 'must be ≤ 5000'),
  }),
  approval: { allowEdit: true, expiresInMs: 60_000 },
  execute: () => 'paid',
});

/** Asks for the calls of one round, as a run of an app in this process does. */
async function asks(
  calls: readonly { readonly name: string; readonly args: object }[],
  edits: (json: string) => string = (json) => json,
): Promise<Asked> {
  const clock = testClock();
  const book = tool({
    name: 'book',
    description: 'Books a flight',
    schema: z.object({ flight: z.string() }),
    approval: { mayDecide: ['operator:cfo'], expiresInMs: 60_000 },
    execute: () => 'booked',
  });
  const model = scriptedModel([{ toolCalls: calls }] as Parameters<typeof scriptedModel>[0]);
  const coder = agent({ name: 'coder', model, tools: [refund, book] });
  const app = runtime({ app: 'shop', runnables: [coder], recover: 'manual', ports: { clock } });
  onTestFinished(() => app.close());
  const feed = new Feed();
  const session = await app.sessions.create();
  await app.run(coder, { session, input: 'Go', onStream: (event) => void feed.take(event) });
  let now = clock.now();
  let answered: Promise<unknown> = Promise.resolve();
  const failures: string[] = [];
  const focus = new RequestFocus({
    ...{ now: () => now, feed: () => feed, isFree: () => true, columns: () => space.columns },
    answer: (request, given) => {
      const answering = app.requests.answer(request.requestId, given).then(() => undefined);
      answered = answering.catch(() => undefined);
      return answering;
    },
    failed: (text) => failures.push(text),
    edit: (json, take) => take(edits(json)),
    choose: (_, choices) => choices[1]?.take(),
    changed: () => undefined,
  });
  focus.look();
  focus.enter();
  return {
    ...{ app, clock, focus, feed, failures },
    wait: (ms) => {
      now += ms;
    },
    press: async (...inputs) => {
      for (const input of inputs) focus.take(input);
      await answered;
    },
    text: () => {
      const card = requestCard(focus, now, space);
      if (card === undefined) return '';
      return [card.title, ...card.body, card.keys(0)].map(textOfLine).join('\n');
    },
  };
}

const key = (name: string): Input => ({ kind: 'key', key: name });
const text = (typed: string): Input => ({ kind: 'text', text: typed });
const call = { name: 'refund', args: { order: 17, cents: 400 } };

test('an answer that comes after another one says whose that was', async () => {
  const { app, feed, press, failures } = await asks([call]);
  const [request] = feed.requests;
  await app.requests.answer(request?.requestId ?? '', { decision: 'approve', by: 'operator:ben' });
  await press(text('y'));
  expect(failures).toEqual([
    `refund #${request?.seq} was answered already by operator:ben (approve).`,
  ]);
});

test('an answer to a request that has expired meanwhile says so', async () => {
  const { clock, feed, press, failures } = await asks([call]);
  clock.advance(60_000);
  await press(text('y'));
  expect(failures).toEqual([
    `refund #${feed.requests[0]?.seq} has expired: nobody answered in time.`,
  ]);
});

test('an answer that is up to somebody else is refused, and its request keeps the keys', async () => {
  const {
    focus,
    feed,
    press,
    failures,
    text: shown,
  } = await asks([{ name: 'book', args: { flight: 'LH1' } }]);
  await press(text('y'));
  expect(failures).toEqual([`book #${feed.requests[0]?.seq}: only operator:cfo may decide.`]);
  expect(focus.isFocused).toBe(true);
  expect(shown()).toContain('up to operator:cfo');
  expect(shown()).not.toContain('always');
});

test('an edit that does not fit stays open with the reason', async () => {
  const { press, failures, text: shown, focus, feed } = await asks([call, call]);
  await press(text('e'), key('tab'), text('00'), { kind: 'key', key: 'enter', alt: true });
  expect(failures).toEqual([]);
  expect(shown()).toContain('cents *');
  expect(shown()).toContain('40000');
  expect(shown()).toContain('$.cents must be ≤ 5000');
  await press(key('backspace'), { kind: 'key', key: 'enter', alt: true });
  expect(focus.open).toEqual([feed.requests[1]]);
});

test('a letter that comes right after an answer is neither an answer nor a message', async () => {
  const { focus, press, text: shown, wait } = await asks([call, call, call]);
  expect(shown()).toContain('3 calls wait for you');
  await press(text('y'), text('y'));
  expect(focus.open).toHaveLength(2);
  wait(350);
  await press(text('y'));
  expect(focus.open).toHaveLength(1);
});

test('a request that is read stays whole when another one comes', async () => {
  const { focus, feed, text: shown } = await asks([call]);
  const one = feed.requests[0];
  expect(shown()).toContain('wants to call refund');
  feed.take({
    ...{ v: 1, seq: 99, id: 'e99', at: 0, type: 'tool_yield', by: 'runtime' },
    ...{ invocationId: 'x', callId: 'x/r1.1', name: 'refund', args: {}, kind: 'approval' },
    ...{ requestId: 'other', generation: 1, fingerprint: 'f' },
    request: { agent: 'coder', summary: 'refund()', options: ['approve', 'reject'] },
  } as unknown as Parameters<Feed['take']>[0]);
  focus.look();
  expect(focus.request).toBe(one);
  expect(shown()).toContain('1/2');
  focus.take(key('escape'));
  expect(shown()).toContain('2 calls wait for you');
});

test('Ctrl-G edits a form as JSON; what cannot be read is said, and opened again', async () => {
  const given: string[] = [];
  const texts = ['{ "order": 17,', '{ "order": 17, "cent": 4 }', '{ "order": 18, "cents": 7 }'];
  const { press, text: shown } = await asks([call], (json) => {
    given.push(json);
    return texts[given.length - 1] ?? json;
  });
  const g: Input = { kind: 'key', key: 'g', ctrl: true };
  await press(text('e'), g);
  expect(shown()).toContain('The text is no JSON');
  await press(g);
  expect(shown()).toContain('There is no cent.');
  await press(g);
  expect(shown()).toMatch(/order \* +18/);
  expect(given).toEqual(['{\n  "order": 17,\n  "cents": 400\n}\n', ...texts.slice(0, 2)]);
});
