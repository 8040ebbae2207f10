import type { Event, EventDraft, StoredEvent } from 'adjutant';
import { isDurable } from 'adjutant';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventWords } from '../../../src/tui/trace/event-words.ts';
import { isTrouble, TraceIndex } from '../../../src/tui/trace/trace-index.ts';
import { nextPlace, TraceRows } from '../../../src/tui/trace/trace-rows.ts';
import { drawnSession, Recorder } from '../feed/drawn-session.ts';

const run = 'run_1';

function seqsOf(index: TraceIndex, rows: TraceRows): number[] {
  return rows.places.map((place) => index.event(place).seq);
}

/** A run with a round that calls an agent, and a round that answers. */
function session(): readonly Event[] {
  const recorder = new Recorder();
  const add = (draft: object): Event => recorder.add(draft as EventDraft);
  const of = { by: 'runtime', invocationId: run } as const;
  const child = `${run}/r1.0`;
  const model = { round: 1, attempt: 1, model: 'scripted:world', recipe: {} };
  const end = { status: 'completed', usage: { inputTokens: 2_300, outputTokens: 88 } };
  add({ type: 'user', by: 'user', text: 'How many people?' });
  add({ type: 'invocation_start', ...of, kind: 'agent', name: 'coder', mode: 'root' });
  add({ type: 'model_start', ...of, agent: 'coder', ...model });
  add({ type: 'thought', ...of, agent: 'coder', round: 1, text: 'I ask.' });
  add({
    ...{ type: 'tool_call', ...of, agent: 'coder', callId: child, name: 'researcher' },
    ...{ args: { about: 'Tokyo' }, round: 1, index: 0, providerCallId: 'c' },
  });
  add({ type: 'model_end', ...of, ...end, round: 1, attempt: 1, durationMs: 1_200, cost: 0.0006 });
  const inner = { by: 'runtime', invocationId: `${child}/researcher` } as const;
  add({
    ...{ type: 'invocation_start', ...inner, parent: run, kind: 'agent', name: 'researcher' },
    ...{ mode: 'call', input: { message: 'Tokyo' } },
  });
  add({ type: 'model_start', ...inner, agent: 'researcher', ...model });
  add({ type: 'model_end', ...inner, ...end, round: 1, attempt: 1, durationMs: 5 });
  add({ type: 'invocation_end', ...inner, status: 'completed' });
  add({
    ...{ type: 'tool_result', ...of, callId: child, name: 'researcher', attempt: 1 },
    ...{ settled: true, result: { status: 'success', content: '14m' }, durationMs: 41_000 },
  });
  add({ type: 'model_start', ...of, agent: 'coder', ...model, round: 2 });
  add({ type: 'model_end', ...of, ...end, round: 2, attempt: 1, durationMs: 5 });
  add({ type: 'assistant', ...of, agent: 'coder', text: 'Fourteen million.' });
  add({ type: 'invocation_end', ...of, status: 'completed' });
  return recorder.events.filter(isDurable);
}

test('details of calls are folded, rounds and runs are not', () => {
  const index = new TraceIndex(session());
  const rows = new TraceRows(index);
  expect(seqsOf(index, rows)).toEqual([1, 2, 3, 5, 7, 8, 10, 12, 14, 15]);
});

test('a call opens by a step, a round folds with all that it did, a run folds whole', () => {
  const index = new TraceIndex(session());
  const rows = new TraceRows(index);
  expect(rows.open(4, 1)).toBe(true);
  expect(seqsOf(index, rows)).toContain(11);
  expect(rows.open(4, 1)).toBe(false);
  rows.open(2, 1);
  expect(seqsOf(index, rows)).toEqual(expect.arrayContaining([4, 6]));
  rows.open(2, -1);
  rows.open(2, -1);
  expect(seqsOf(index, rows)).toEqual([1, 2, 3, 12, 14, 15]);
  rows.open(1, -1);
  expect(seqsOf(index, rows)).toEqual([1, 2]);
  expect(rows.reveal(8)).toBe(7);
  expect(seqsOf(index, rows)).toContain(8);
});

test('rows say what happened, with what their ends tell', () => {
  const index = new TraceIndex(session());
  expect(eventWords(index, 2).text).toBe('world r1  2.3k→88  $0.0006');
  expect(eventWords(index, 4)).toMatchObject({ sign: 'done', text: 'researcher Tokyo' });
  expect(eventWords(index, 6)).toMatchObject({ sign: 'child', text: 'call "Tokyo"' });
  expect([1, 6, 7].map((place) => index.depthOf(place))).toEqual([0, 0, 1]);
});

test('an event of a type that is not known is shown as one, and is trouble', () => {
  const strange = { type: 'plan', v: 1, seq: 31, id: 'e', at: 1, by: 'runtime' };
  const unreadable = { type: 'unreadable', seq: 32, reason: 'later version', stored: {} };
  const index = new TraceIndex([strange, unreadable] as unknown as readonly StoredEvent[]);
  expect(eventWords(index, 0).text).toBe('#31 cannot be shown: needs a newer adjutant');
  expect(eventWords(index, 1).text).toBe('#32 cannot be shown: needs a newer adjutant');
  expect(isTrouble(index.event(0))).toBe(true);
  expect(nextPlace(2, 1, 1, () => true)).toBe(0);
});

test('an index that grows is the index of all events, whatever is folded meanwhile', () => {
  const folds = fc.array(fc.tuple(fc.nat({ max: 40 }), fc.constantFrom(1, -1) as never), {
    maxLength: 6,
  }) as fc.Arbitrary<[number, 1 | -1][]>;
  fc.assert(
    fc.property(drawnSession, folds, fc.nat({ max: 30 }), (streamed, steps, cut) => {
      const events = streamed.filter(isDurable);
      const index = new TraceIndex(events.slice(0, cut));
      const rows = new TraceRows(index);
      const fold = (some: TraceRows, last: number): void => {
        for (const [place, by] of steps) if (place < last) some.open(place, by);
      };
      fold(rows, Math.min(cut, events.length));
      for (const event of events.slice(cut)) index.add(event);
      rows.grow();
      const whole = new TraceIndex(events);
      const again = new TraceRows(whole);
      fold(again, Math.min(cut, events.length));
      expect(rows.places).toEqual(again.places);
      for (let place = 0; place < events.length; place++) {
        expect(index.headOf(place)).toBeLessThan(place);
        expect(eventWords(index, place)).toEqual(eventWords(whole, place));
        expect(index.placeOf(index.event(place).seq)).toBe(place);
      }
    }),
  );
});
