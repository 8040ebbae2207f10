import type { EventOf, StreamEvent } from 'adjutant';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noText, type StreamedTexts, streamedText } from './streamed-text.ts';

const invocationId = 'run_1';
const agent = 'clerk';
const from = { invocationId, agent } as const;

function delta(text: string): StreamEvent {
  return { type: 'assistant_delta', ...from, delta: text };
}

function thought(text: string): StreamEvent {
  return { type: 'thought_delta', ...from, delta: text };
}

const reset: StreamEvent = { type: 'stream_reset', ...from };

function durable<Type extends 'assistant' | 'thought' | 'model_end'>(
  type: Type,
  data: object,
): EventOf<Type> {
  return {
    v: 1,
    seq: 1,
    id: 'e',
    at: 0,
    by: 'model',
    type,
    ...from,
    ...data,
  } as EventOf<Type>;
}

function folded(events: readonly StreamEvent[], texts: StreamedTexts = noText): StreamedTexts {
  return events.reduce(streamedText, texts);
}

interface Answer {
  /** Attempts that failed, and were replaced. */
  readonly failed: readonly (readonly string[])[];
  readonly thoughts: readonly string[];
  readonly chunks: readonly string[];
  /** After how many chunks the text becomes another part of the answer. */
  readonly split: number;
}

const chunk = fc.string({ minLength: 1, maxLength: 5 });
const answers = fc.array(
  fc.record<Answer>({
    failed: fc.array(fc.array(chunk), { maxLength: 2 }),
    thoughts: fc.array(chunk),
    chunks: fc.array(chunk, { minLength: 1 }),
    split: fc.nat(4),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Returns the stream of answers: transient parts, then the recorded events. */
function streamOf(all: readonly Answer[]): StreamEvent[] {
  return all.flatMap(({ failed, thoughts, chunks, split }, round) => {
    const parts = [chunks.slice(0, split), chunks.slice(split)].filter(({ length }) => length > 0);
    return [
      ...failed.flatMap((texts) => [
        ...texts.map(delta),
        durable('model_end', { round, status: 'error' }),
        reset,
      ]),
      ...thoughts.map(thought),
      ...chunks.map(delta),
      ...(thoughts.length === 0 ? [] : [durable('thought', { round, text: thoughts.join('') })]),
      ...parts.map((part) => durable('assistant', { round, text: part.join('') })),
      durable('model_end', { round, status: 'completed' }),
    ];
  });
}

function isTransient(event: StreamEvent): boolean {
  return !('seq' in event);
}

describe('streamedText', () => {
  test('has of each answer what the ledger has', () => {
    fc.assert(
      fc.property(answers, (all) => {
        let texts = noText;
        let count = 0;
        for (const event of streamOf(all)) {
          texts = streamedText(texts, event);
          if (event.type !== 'model_end' || event.status !== 'completed') continue;
          const { chunks, thoughts } = all[count++] as Answer;
          expect(texts.get(invocationId)).toMatchObject({
            text: chunks.join(''),
            thoughts: thoughts.join(''),
            isComplete: true,
          });
        }
      }),
    );
  });

  test('is the same for a reader who lost the connection and was given the text so far', () => {
    fc.assert(
      fc.property(answers, fc.nat(), fc.nat(), (all, one, other) => {
        const stream = streamOf(all);
        const [lost, back] = [one % (stream.length + 1), other % (stream.length + 1)].sort(
          (a, b) => a - b,
        ) as [number, number];
        const whole = folded(stream.slice(0, back));
        const open = whole.get(invocationId);
        const missed = stream.slice(lost, back).filter((event) => !isTransient(event));
        const soFar =
          open === undefined || open.isComplete
            ? []
            : [reset, thought(open.thoughts), delta(open.text)];
        const texts = folded([...stream.slice(0, lost), ...missed, ...soFar]);
        const { text = '', thoughts = '' } = texts.get(invocationId) ?? {};
        expect({ text, thoughts }).toEqual({
          text: open?.text ?? '',
          thoughts: open?.thoughts ?? '',
        });
        expect(folded(stream.slice(back), texts).get(invocationId)).toMatchObject({
          text: (all.at(-1) as Answer).chunks.join(''),
          isComplete: true,
        });
      }),
    );
  });

  test('keeps the texts of invocations apart, in the order in which they began', () => {
    const other: StreamEvent = {
      type: 'assistant_delta',
      invocationId: 'run_1/researcher',
      agent: 'researcher',
      delta: 'I look.',
    };
    const texts = folded([delta('One '), other, delta('moment.')]);
    expect([...texts.values()].map(({ agent: name, text }) => [name, text])).toEqual([
      ['clerk', 'One moment.'],
      ['researcher', 'I look.'],
    ]);
    expect(
      folded([
        { ...durable('assistant', { round: 1, text: 'Hi' }), invocationId: undefined } as never,
      ]),
    ).toEqual(noText);
  });

  test('keeps what was streamed of a text that the stream has only a reference to', () => {
    const reference = { $blob: 'b1', hash: 'h', size: 70_000, preview: 'Once' };
    const texts = folded([
      delta('Once upon a time'),
      durable('assistant', { round: 1, text: reference }),
    ]);
    expect(texts.get(invocationId)).toMatchObject({ text: 'Once upon a time', isComplete: true });
  });
});
