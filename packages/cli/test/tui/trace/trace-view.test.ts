import type { EventDraft, StoredEvent } from 'adjutant';
import { isDurable } from 'adjutant';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { keyInput } from '../../../src/tui/editor/keys.ts';
import { LogBook } from '../../../src/tui/log/log-book.ts';
import { textOfLine } from '../../../src/tui/text/spans.ts';
import { displayWidth } from '../../../src/tui/text/width.ts';
import { TraceIndex } from '../../../src/tui/trace/trace-index.ts';
import { type TraceActs, TraceView } from '../../../src/tui/trace/trace-view.ts';
import { drawnSession, Recorder } from '../feed/drawn-session.ts';

const screen = { columns: 80, rows: 24, ascii: false };

function actsOf(): { [Act in keyof TraceActs]: ReturnType<typeof vi.fn<TraceActs[Act]>> } {
  return { open: vi.fn(), prompt: vi.fn(), state: vi.fn(), fork: vi.fn(), copy: vi.fn() };
}

function viewOf(events: Iterable<StoredEvent>, log = new LogBook()) {
  const acts = actsOf();
  const index = new TraceIndex(events);
  const view = new TraceView({
    ...{ index, log, acts, now: () => 10_000, facts: ['coder', '…w7kq2a'] },
    ...{ isLive: () => false, grow: () => undefined },
  });
  const shown = (size = screen): string[] => view.lines(size).map(textOfLine);
  const type = (text: string): boolean => view.take({ kind: 'text', text });
  const marked = (): string => shown().find((line) => line.startsWith('›')) ?? '';
  return { acts, index, view, shown, type, marked };
}

/** Rounds that each call a tool; the third call fails, and a decision follows it. */
function rounds(count: number): readonly StoredEvent[] {
  const recorder = new Recorder();
  const add = (draft: object): void => void recorder.add(draft as EventDraft);
  const of = { by: 'runtime', invocationId: 'run_1' } as const;
  add({ type: 'user', by: 'user', text: 'Why does the checkout test fail?' });
  add({ type: 'invocation_start', ...of, kind: 'agent', name: 'coder', mode: 'root' });
  for (let round = 1; round <= count; round++) {
    const at = { ...of, agent: 'coder', round, attempt: 1 };
    const callId = `run_1/r${round}.0`;
    const usage = { inputTokens: 2_310, outputTokens: 88 };
    const status = round % 1_000 === 3 ? 'error_permanent' : 'success';
    add({ type: 'model_start', ...at, model: 'openai:gpt-5-mini', recipe: { encoder: 3 } });
    const args = { path: `src/file-${round}.ts` };
    add({ type: 'tool_call', ...at, callId, name: 'readFile', args, index: 0 });
    add({ type: 'model_end', ...at, status: 'completed', usage, durationMs: 1_200, cost: 0.0006 });
    add({ type: 'tool_attempt', ...of, callId, attempt: 1, key: 'k', epoch: 1 });
    const result = { status, content: `text of ${round}` };
    add({
      ...{ type: 'tool_result', ...of, callId, name: 'readFile', attempt: 1, settled: true },
      ...{ result, durationMs: 8 },
    });
  }
  add({
    ...{ type: 'decision', ...of, component: 'loop_detector', decision: 'block' },
    reasoning: 'The 5th equal call was not run.',
    alternatives: ['run it', 'warn again'],
    ...{ data: { tool: 'listFiles', evidence: [31, 40] }, tell: 'This call was made 4 times' },
  });
  return recorder.events.filter(isDurable);
}

test('the newest event is marked, and its details stand below or beside', () => {
  const { shown, marked } = viewOf(rounds(4));
  expect(shown()[0]).toMatch(
    /^trace {2}coder · …w7kq2a · 23 events +\[d\] debug {3}c content {3}l log$/,
  );
  expect(marked()).toMatch(/^› {2}23 {2}\d\d:\d\d:\d\d .*coder +! loop_detector block listFiles$/);
  const below = shown().join('\n');
  expect(below).toContain('#23 decision · loop_detector: block');
  expect(below).toMatch(/considered {2}run it · warn again/);
  expect(below).toMatch(/evidence {4}#31 #40/);
  expect(below).toMatch(/told {8}"This call was made 4 times"/);
  const beside = shown({ columns: 120, rows: 24, ascii: false });
  expect(beside.find((line) => line.includes('│ #23 decision'))).toBeDefined();
  expect(beside[0]).toMatch(/filter: none$/);
});

test('keys go to rounds, runs and trouble, and open the prompt, the state and the whole', () => {
  const { acts, index, view, type, marked } = viewOf(rounds(4));
  type('{');
  expect(marked()).toContain('run of coder');
  type(']]');
  expect(marked()).toContain('gpt-5-mini r2');
  type('!');
  expect(marked()).toMatch(/✗ readFile src\/file-3\.ts {2}error_permane…$/);
  view.take(keyInput('right'));
  view.take(keyInput('down'));
  view.take(keyInput('down'));
  expect(marked()).toMatch(/✗ error_permanent/);
  view.take(keyInput('left'));
  expect(marked()).toContain('readFile');
  const { place } = { place: index.placeOf(14) };
  type('psFy');
  view.take(keyInput('enter'));
  for (const act of Object.values(acts)) expect(act).toHaveBeenCalledExactlyOnceWith(place);
  expect(view.take(keyInput('x', { ctrl: true }))).toBe(true);
});

test('search finds in whole events, and a filter shows what has its words', () => {
  const { view, shown, type, marked } = viewOf(rounds(40));
  type('/');
  type('text of 7');
  view.take(keyInput('enter'));
  expect(marked()).toMatch(/ ✓ success 9 B$/);
  expect(shown().join('\n')).toMatch(/▾ ✓ readFile src\/file-7\.ts/);
  type('f');
  type('tool_result -error');
  view.take(keyInput('enter'));
  expect(shown()[0]).toContain('39 of 203 events');
  expect(shown().filter((line) => / ✓ success /.test(line)).length).toBeGreaterThan(5);
  type('f');
  view.take(keyInput('enter'));
  expect(shown()[0]).toContain('203 events');
  type('{!');
  expect(marked()).toContain('src/file-3.ts');
  type('!');
  expect(marked()).toContain('loop_detector');
  type('!');
  expect(marked()).toContain('src/file-3.ts');
  type('/');
  type('text of 1');
  view.take(keyInput('enter'));
  type('n');
  expect(shown().join('\n')).toMatch(/▾ ✓ readFile src\/file-11\.ts/);
  type('/');
  type('nowhere');
  view.take(keyInput('enter'));
  expect(shown().at(-1)).toContain('"nowhere" is nowhere in this mode');
});

test('content is what was said and called, and the log stands beside events', () => {
  const log = new LogBook();
  log.write('{"level":40,"time":1350,"name":"shop","msg":"slow","table":"orders"}', 'info', 9);
  log.write('quietly', 'debug', 1_350);
  const { shown, type } = viewOf(rounds(4), log);
  type('{c');
  expect(shown()[0]).toContain('[c] content');
  expect(shown().join('\n')).toMatch(/call +readFile {"path":"src\/file-1\.ts"} {2}→ {2}9 B/);
  type('l');
  expect(shown()[0]).toMatch(/1 line +d debug {3}c content {3}\[l\] log/);
  expect(shown()[1]).toMatch(/WARN {3}shop +slow {"table":"orders"} +beside #3–#4$/);
  type('-');
  expect(shown().join('\n')).toContain('DEBUG');
});

test('a frame of 100,000 events reads only what it shows', () => {
  const events = rounds(20_000);
  const { index, view, shown, type } = viewOf(events);
  expect(index.length).toBe(100_003);
  let read = 0;
  const { event } = TraceIndex.prototype;
  vi.spyOn(index, 'event').mockImplementation((place) => {
    read++;
    return event.call(index, place);
  });
  shown();
  view.take(keyInput('pageUp'));
  shown({ columns: 120, rows: 50, ascii: false });
  type('c');
  shown();
  expect(read).toBeLessThan(3_000);
});

test('whatever happened, whatever the keys and the size: the trace fits the terminal', () => {
  const keys = fc.array(
    fc.constantFrom(...'dclkjgG[]{}!/nN', 'left', 'right', 'up', 'pageUp', 'enter', 'home'),
    { maxLength: 20 },
  );
  const sizes = fc.record({
    columns: fc.integer({ min: 12, max: 220 }),
    rows: fc.integer({ min: 5, max: 60 }),
    ascii: fc.boolean(),
  });
  fc.assert(
    fc.property(drawnSession, keys, sizes, (streamed, pressed, size) => {
      const log = new LogBook();
      log.write('\u001B[2Jhello', 'warn', 1_200);
      const { view, type } = viewOf(streamed.filter(isDurable), log);
      for (const key of pressed) {
        const lines = view.lines(size);
        expect(lines.length).toBe(Math.max(4, size.rows - 1));
        for (const line of lines) {
          expect(displayWidth(textOfLine(line))).toBeLessThan(size.columns);
          expect(textOfLine(line)).not.toMatch(/\p{Cc}/u);
        }
        if (key.length > 1) view.take(keyInput(key));
        else type(key);
      }
    }),
    { numRuns: 60 },
  );
});
