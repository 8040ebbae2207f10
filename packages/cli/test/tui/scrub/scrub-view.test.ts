import { agent, runtime, type Session, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import type { StateSnapshot } from 'adjutant/views';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { keyInput } from '../../../src/tui/editor/keys.ts';
import { ScrubView } from '../../../src/tui/scrub/scrub-view.ts';
import { textOfLine } from '../../../src/tui/text/spans.ts';
import { displayWidth } from '../../../src/tui/text/width.ts';
import { TraceIndex } from '../../../src/tui/trace/trace-index.ts';

const screen = { columns: 100, rows: 20, ascii: false };
const agents = [
  {
    ...({ kind: 'agent', name: 'coder' } as const),
    ...{ limits: { cost: 0.5, rounds: 25 }, readingTools: ['look'] },
  },
];

async function session(): Promise<Session> {
  const call = (name: string, args = {}): object => ({ name, args });
  const model = scriptedModel([
    { toolCalls: [call('write', { text: 'one' }), call('look')] },
    { toolCalls: [call('write', { text: 'two' })] },
    { text: 'Done.' },
  ] as never);
  const write = tool({
    name: 'write',
    description: 'Writes',
    schema: z.object({ text: z.string() }),
    execute: ({ args, state }) => {
      state['last'] = args.text;
      return 'written';
    },
  });
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: z.object({}),
    readOnly: true,
    execute: () => 'seen',
  });
  const coder = agent({ name: 'coder', model, tools: [write, look] });
  const app = runtime({ app: 'shop', runnables: [coder], recover: 'manual' });
  onTestFinished(() => app.close());
  return (await app.run(coder, { input: 'Write it' })).session;
}

function viewOf(from: Session, stateAt = async (seq: number) => from.stateAt(seq)) {
  const index = new TraceIndex(from.events);
  const acts = { copy: vi.fn(), print: vi.fn(), changed: vi.fn() };
  const [fork, change] = [vi.fn(), vi.fn()];
  const view = new ScrubView(
    {
      ...{ index, agents, stateAt, acts, fork, change },
      ...{ now: () => from.events.at(-1)?.at ?? 0, grow: () => undefined },
    },
    index.length - 1,
  );
  const shown = (): string => view.lines(screen).map(textOfLine).join('\n');
  return { index, acts, fork, change, view, shown };
}

test('the state after each event is that of stateAt', async () => {
  const from = await session();
  const { view, shown, index } = viewOf(from);
  for (let place = index.length - 1; place >= 0; place--) {
    const { seq } = index.event(place);
    const { sessionState } = from.stateAt(seq);
    const last = (sessionState as { readonly last?: string }).last;
    const wanted = last === undefined ? /session +empty/ : new RegExp(`session +last "${last}"`);
    await vi.waitFor(() => expect(shown()).toMatch(wanted));
    expect(shown()).toContain(`#${seq} of ${from.events.length}`);
    view.take(keyInput('left'));
  }
});

test('what waits, what is used and what was done is that up to there', async () => {
  const from = await session();
  const { view, shown, fork, change } = viewOf(from);
  expect(shown()).toMatch(/not\s+undone: 2 write \(the\s+fork/);
  expect(shown()).toMatch(/waits +nothing/);
  expect(shown()).toMatch(/budget +\S+ of \$0\.50 · 3 of 25 rounds/);
  const second = from.events.findLast(({ type }) => type === 'state_change')?.seq ?? 0;
  while (!shown().includes(`#${second} of`)) view.take(keyInput('left'));
  await vi.waitFor(() => expect(shown()).toContain('last "two" (was "one")'));
  expect(shown()).toMatch(/not\s+undone: 1 write \(the\s+fork/);
  view.take({ kind: 'text', text: 'F' });
  view.take({ kind: 'text', text: 'm' });
  expect(fork).toHaveBeenCalledExactlyOnceWith(second);
  expect(change).toHaveBeenCalledExactlyOnceWith(1, 'Write it');
  view.take(keyInput('home'));
  expect(shown()).toContain('Nothing was done in the world up to here.');
  expect(view.take({ kind: 'text', text: 'q' })).toBe(true);
});

test('of states that are asked for quickly one after the other the last one is shown', async () => {
  const from = await session();
  const asked: number[] = [];
  const first = Promise.withResolvers<StateSnapshot>();
  const { view, shown, acts } = viewOf(from, (seq) => {
    asked.push(seq);
    return asked.length === 1 ? first.promise : Promise.resolve(from.stateAt(seq));
  });
  expect(shown()).toContain('reading the state');
  for (let step = 0; step < 5; step++) view.take(keyInput('left'));
  const last = from.events.length;
  first.resolve(from.stateAt(last));
  await vi.waitFor(() => expect(acts.changed).toHaveBeenCalledTimes(2));
  expect(asked).toEqual([last, last - 5]);
});

test('a state that cannot be read says why, and everything fits', async () => {
  const from = await session();
  const { view, shown, acts } = viewOf(from, () => Promise.reject(new Error('no \u001B[2Jstore')));
  await vi.waitFor(() => expect(acts.changed).toHaveBeenCalled());
  expect(shown()).toContain('no ␛[2Jstore');
  for (const columns of [12, 30, 60, 78, 110, 200])
    for (const rows of [5, 12, 40]) {
      const lines = view.lines({ columns, rows, ascii: false }).map(textOfLine);
      expect(lines).toHaveLength(rows - 1);
      for (const line of lines) expect(displayWidth(line)).toBeLessThan(columns);
    }
});
