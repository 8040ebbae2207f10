import { isDurable, type StreamEvent } from 'adjutant';
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AnswerSubject,
  type KnownAnswer,
  startOfAnswer,
  tellAnswer,
} from '../packages/server/src/stream/ui-message/answer-teller.ts';
import { signatureOf } from '../packages/server/src/stream/ui-message/sent-message.ts';
import { arbitraryRun, caughtUp } from './fixtures/arbitrary-run.ts';

/** Gives the chunks of the answer to an input. */
function toldOf(
  events: readonly StreamEvent[],
  to: string,
  known?: KnownAnswer,
): readonly UIMessageChunk[] {
  const subject: AnswerSubject = {
    to,
    restsAfter: Number.POSITIVE_INFINITY,
    awaited: [],
    ...(known === undefined ? {} : { known }),
  };
  let state = startOfAnswer(subject);
  const chunks: UIMessageChunk[] = [];
  for (const event of events) {
    const told = tellAnswer(subject, state, event);
    state = told.state;
    chunks.push(...(told.chunks as readonly UIMessageChunk[]));
    if (told.isOver) break;
  }
  return chunks;
}

/** The message that the AI SDK makes of chunks; what it cannot read fails. */
async function messageOf(
  chunks: readonly UIMessageChunk[],
  begun?: UIMessage,
): Promise<UIMessage | undefined> {
  const faults: unknown[] = [];
  let last: UIMessage | undefined;
  // The reader shows the state after the last chunk that changes something: this one changes
  // nothing else.
  const all: readonly UIMessageChunk[] =
    chunks.length === 0
      ? []
      : [...chunks, { type: 'message-metadata', messageMetadata: { isLast: true } }];
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of all) controller.enqueue(chunk);
      controller.close();
    },
  });
  for await (const message of readUIMessageStream({
    stream,
    ...(begun === undefined ? {} : { message: structuredClone(begun) }),
    onError: (fault) => faults.push(fault),
  }))
    last = message;
  expect(faults).toEqual([]);
  return last;
}

/** The inputs of a run: that which it began with, and those that came while it was open. */
function inputsOf(events: readonly StreamEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'user' && event.clientKey !== undefined ? [event.clientKey] : [],
  );
}

const cut = fc.nat(100);

test('whoever comes back in the middle of an answer has the same message at its end', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryRun, cut, async (events, place) => {
      const at = place % (events.length + 1);
      const rest = [...caughtUp(events.slice(0, at)), ...events.slice(at)];
      for (const to of inputsOf(events))
        expect(await messageOf(toldOf(rest, to))).toEqual(await messageOf(toldOf(events, to)));
    }),
    { numRuns: 300 },
  );
});

test('whoever comes back has at once what those have who never left', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryRun, cut, async (events, place) => {
      const before = events.slice(0, place % (events.length + 1));
      for (const to of inputsOf(before))
        expect(await messageOf(toldOf(caughtUp(before), to))).toEqual(
          await messageOf(toldOf(before, to)),
        );
    }),
    { numRuns: 300 },
  );
});

test(
  'a message that goes on after an answer of its reader becomes what it would ' + 'have been',
  async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryRun, cut, fc.boolean(), async (events, place, knowsLess) => {
        const before = events.slice(0, place % (events.length + 1));
        const head = before.findLast(isDurable)?.seq ?? 0;
        // Only the last answer can go on.
        const to = inputsOf(before).findLast(
          (input) => toldOf(before.filter(isDurable), input).length > 0,
        );
        const had = to === undefined ? undefined : await messageOf(toldOf(before, to));
        if (to === undefined || had === undefined) return;
        // Some pages have lost a part of what they were told.
        const start = had.parts.findLastIndex(({ type }) => type === 'step-start');
        const copy = knowsLess ? { ...had, parts: had.parts.slice(0, start + 1) } : had;
        const rest = [...caughtUp(before), ...events.slice(before.length)];
        const chunks = toldOf(rest, to, { upTo: head, lastStep: signatureOf(copy as never) });
        expect(await messageOf(chunks, copy)).toEqual(await messageOf(toldOf(events, to)));
      }),
      { numRuns: 300 },
    );
  },
);
