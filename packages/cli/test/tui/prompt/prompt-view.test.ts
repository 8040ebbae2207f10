import { agent, runtime, type Session, tool } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { keyInput } from '../../../src/tui/editor/keys.ts';
import { ModelCalls } from '../../../src/tui/prompt/model-calls.ts';
import { promptChanges } from '../../../src/tui/prompt/prompt-changes.ts';
import { type PromptPart, promptSections } from '../../../src/tui/prompt/prompt-sections.ts';
import { PromptView } from '../../../src/tui/prompt/prompt-view.ts';
import { textOfLine } from '../../../src/tui/text/spans.ts';
import { displayWidth } from '../../../src/tui/text/width.ts';
import { TraceIndex } from '../../../src/tui/trace/trace-index.ts';

const screen = { columns: 100, rows: 24, ascii: false };

/** A session of two rounds, whose tool gave more than prompts may have. */
async function session(): Promise<Session> {
  const model = scriptedModel([
    { toolCalls: [{ name: 'read', args: { path: 'a' } }] },
    { text: 'Done.' },
  ]);
  const read = tool({
    name: 'read',
    description: 'Reads a file',
    schema: z.object({ path: z.string() }),
    execute: () => 'word '.repeat(60_000),
  });
  const coder = agent({ name: 'coder', model, tools: [read], instructions: 'You code.' });
  const app = runtime({ app: 'shop', runnables: [coder], recover: 'manual' });
  onTestFinished(() => app.close());
  return (await app.run(coder, { input: 'Read it' })).session;
}

async function viewOf(from: Session, place?: number) {
  const calls = new ModelCalls(new TraceIndex(from.events));
  const acts = { copy: vi.fn<(text: string) => void>(), print: vi.fn(), changed: vi.fn() };
  const open = vi.fn();
  const start = calls.near(place ?? from.events.length - 1);
  if (start === undefined) throw new Error('No model was called.');
  const view = new PromptView(
    { calls, load: async (seq) => promptOf(from, seq), windowOf: () => 128_000, acts, open },
    start,
  );
  await vi.waitFor(() => expect(acts.changed).toHaveBeenCalled());
  const shown = (): string[] => view.lines(screen).map(textOfLine);
  return { view, acts, open, shown, calls };
}

test('a prompt is shown by section, with what changed since the call before', async () => {
  const { view, acts, open, shown } = await viewOf(await session());
  const text = shown().join('\n');
  expect(shown()[0]).toMatch(
    /^#\d+ model_start · .* · round 2 · [\d,]+ of 128,000 tokens +\+[\d,]+ since #\d+/,
  );
  expect(text).toMatch(/prefix kept \d+ %/);
  expect(text).toMatch(/▸ system +\d+ {3}1 message/);
  expect(text).toMatch(/ {6}user +\d+ {3}Read it/);
  expect(text).toMatch(/ {4}\+ call read +\d+ {3}{"path":"a"}/);
  expect(text).toMatch(/ {4}\+ tool read +[\d,]+ {3}word word .*cut from 300 kB to \d+ kB/);
  view.take({ kind: 'text', text: '=' });
  expect(shown().join('\n')).not.toContain('Read it');
  view.take({ kind: 'text', text: 'y' });
  const [[copied = ''] = []] = acts.copy.mock.calls;
  expect(JSON.parse(copied)).toMatchObject({ prompt: expect.any(Array) });
  view.take(keyInput('enter'));
  expect(open).toHaveBeenCalledOnce();
});

test('sections fold, and Tab goes to the next call', async () => {
  const { view, acts, shown } = await viewOf(await session());
  view.take(keyInput('right'));
  expect(shown().join('\n')).toContain('You code.');
  view.take(keyInput('left'));
  expect(shown().join('\n')).not.toContain('You code.');
  acts.changed.mockClear();
  view.take(keyInput('tab'));
  expect(shown()[1]).toContain('reading the prompt');
  await vi.waitFor(() => expect(acts.changed).toHaveBeenCalled());
  expect(shown()[0]).toContain('round 1');
  expect(shown()[0]).not.toContain('since');
});

test('a prompt that cannot be shown says why', async () => {
  const from = await session();
  const calls = new ModelCalls(new TraceIndex(from.events));
  const changed = vi.fn();
  const acts = { copy: vi.fn(), print: vi.fn(), changed };
  const start = calls.at(1);
  if (start === undefined) throw new Error('No model was called.');
  const load = (): Promise<never> => Promise.reject(new Error('\u001B[2Jgone'));
  const view = new PromptView(
    { calls, load, windowOf: () => undefined, acts, open: vi.fn() },
    start,
  );
  await vi.waitFor(() => expect(changed).toHaveBeenCalled());
  expect(view.lines(screen).map(textOfLine).join('\n')).toContain('␛[2Jgone');
  expect(calls.at(3)).toBeUndefined();
  expect(calls.count).toBe(2);
});

test('the prompt fits every terminal', async () => {
  const { view } = await viewOf(await session());
  view.take(keyInput('right'));
  fc.assert(
    fc.property(
      fc.integer({ min: 12, max: 200 }),
      fc.integer({ min: 5, max: 50 }),
      (columns, rows) => {
        const lines = view.lines({ columns, rows, ascii: false }).map(textOfLine);
        expect(lines).toHaveLength(rows - 1);
        for (const line of lines) expect(displayWidth(line)).toBeLessThan(columns);
      },
    ),
  );
});

test('what is kept, added and removed makes the prompt that it is', () => {
  const part = fc
    .constantFrom('a', 'b', 'c', 'd')
    .map((key): PromptPart => ({ key, name: key, text: key }));
  const keysOf = (parts: Iterable<PromptPart>): string[] => [...parts].map(({ key }) => key).sort();
  fc.assert(
    fc.property(fc.array(part), fc.array(part), (before, given) => {
      const now = given.map((one) => ({ ...one }));
      const { added, removed, keptCharacters } = promptChanges(before, now);
      const left = keysOf(before);
      for (const { key } of removed) left.splice(left.indexOf(key), 1);
      expect([...left, ...keysOf(added)].sort()).toEqual(keysOf(now));
      expect(keptCharacters).toBeLessThanOrEqual(now.length);
    }),
  );
  expect(promptSections({ prompt: [] })).toEqual([]);
});
