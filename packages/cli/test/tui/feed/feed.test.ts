import { type Event, isDurable } from 'adjutant';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnswerText } from '../../../src/tui/feed/answer-text.ts';
import type { Block } from '../../../src/tui/feed/block.ts';
import { Feed } from '../../../src/tui/feed/feed.ts';
import { drawnSession, Recorder } from './drawn-session.ts';

const of = { invocationId: 'run_1', agent: 'coder' } as const;

function textOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => (block.kind === 'text' ? [block.markdown] : []));
}

test('each answer and each call is given out once, whatever is streamed of it', () => {
  fc.assert(
    fc.property(drawnSession, (events) => {
      const feed = new Feed();
      const blocks = events.flatMap((event) => [...feed.take(event)]);
      const again = new Feed();
      const recorded = events.filter(isDurable).flatMap((event) => [...again.take(event)]);
      const whole = (some: readonly Block[]): string =>
        textOf(some.filter(({ kind }) => kind !== 'note'))
          .join('')
          .replace(/\s/g, '');
      const isReset = events.some(({ type }) => type === 'stream_reset');
      if (!isReset) expect(whole(blocks)).toBe(whole(recorded));
      const seqs = blocks.flatMap((block) =>
        block.kind === 'calls' ? block.calls.map(({ callId }) => callId) : [],
      );
      const called = events.flatMap((event) => (event.type === 'tool_call' ? [event.callId] : []));
      expect([...seqs].sort()).toEqual([...called].sort());
      expect(feed.calls).toEqual([]);
      expect(feed.openText).toBe('');
    }),
  );
});

test('an event that comes twice counts once', () => {
  fc.assert(
    fc.property(drawnSession, (events) => {
      const feed = new Feed();
      for (const event of events) feed.take(event);
      expect(events.filter(isDurable).flatMap((event) => [...feed.take(event)])).toEqual([]);
    }),
  );
});

describe('a streamed answer', () => {
  test('is the same in whatever pieces it comes', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '\n', '\n\n', '```\n', '- x\n', ' ')), (parts) => {
        const text = parts.join('');
        const streamed = new AnswerText();
        const inPieces = [...parts.flatMap((part) => streamed.push(part)), ...streamed.end()];
        const whole = new AnswerText();
        expect(inPieces).toEqual([...whole.push(text), ...whole.end()]);
      }),
    );
  });

  test('gives a paragraph out when the next one has begun, and a long code block in parts', () => {
    const text = new AnswerText();
    expect(text.push('One\nmore\n\n')).toEqual([]);
    expect(text.push('Two\n')).toEqual([{ markdown: 'One\nmore', isContinued: false }]);
    expect(text.push('```ts\n')).toEqual([{ markdown: 'Two', isContinued: false }]);
    const parts = text.push('x;\n'.repeat(130));
    expect(parts.map(({ isContinued }) => isContinued)).toEqual([false, true]);
    expect(parts.every(({ markdown }) => /^```ts\n(x;\n)+```$/.test(markdown))).toBe(true);
    const rest = [...text.push('```\n\nThree\n'), ...text.end()];
    expect(rest.map(({ isContinued }) => isContinued)).toEqual([true, false]);
    const lines = [...parts, ...rest].flatMap(({ markdown }) => markdown.match(/x;/g) ?? []);
    expect(lines).toHaveLength(130);
  });

  test('gives a long list out in parts, between its items', () => {
    const items = Array.from({ length: 99 }, (_, at) => `${at + 1}. item\n\n    more\n`);
    const text = new AnswerText();
    const parts = [...items.flatMap((item) => text.push(item)), ...text.end()];
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.every(({ markdown }) => /^\d+\. item/.test(markdown))).toBe(true);
    expect(parts.map(({ markdown }) => `${markdown}\n`).join('')).toBe(items.join(''));
    const whole = new AnswerText();
    expect([...whole.push(items.join('')), ...whole.end()]).toEqual(parts);
  });

  test('keeps a code block in a list together with its item', () => {
    const list = '- one\n\n  ```ts\n  a;\n\n  b;\n  ```\n- two\n';
    const text = new AnswerText();
    expect(text.push(`${list}\nEnd\n`)).toEqual([{ markdown: list.trimEnd(), isContinued: false }]);
  });

  test('that the model begins again, or that is recorded otherwise, says so', () => {
    const feed = new Feed();
    const delta = (text: string) => feed.take({ type: 'assistant_delta', ...of, delta: text });
    delta('One\n\nTwo\n');
    expect(feed.take({ type: 'stream_reset', ...of })).toMatchObject([
      { kind: 'note', text: 'The model starts again; the answer above is not recorded.' },
    ]);
    delta('Three\n\nFour\n');
    const event = new Recorder().add({ type: 'assistant', by: 'model', ...of, text: 'Denied.' });
    expect(feed.take(event)).toMatchObject([
      { kind: 'note', text: 'The recorded answer differs from what was streamed:' },
      { kind: 'text', markdown: 'Denied.' },
    ]);
  });
});

test('an event of a type that is not known is told, and ends nothing', () => {
  const feed = new Feed();
  const strange = { type: 'plan', v: 1, seq: 31, id: 'e', at: 1, by: 'runtime' };
  expect(feed.take(strange as unknown as Event)).toMatchObject([
    { kind: 'note', text: '#31 cannot be shown: needs a newer adjutant' },
  ]);
});
