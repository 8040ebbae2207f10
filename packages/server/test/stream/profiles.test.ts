import { isDurable, type StreamEvent } from 'adjutant';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SentFrame } from '../../src/stream/frame.ts';
import { numbered, type Position, positionOf, withoutRead } from '../../src/stream/position.ts';
import { type ProfileName, profileNames, withProfile } from '../../src/stream/profile-names.ts';
import { sessionTelling } from '../../src/stream/telling.ts';
import { arbitraryStream, caughtUp } from './arbitrary-stream.ts';

/** Place behind the frame with this id. */
function positionAt(id: string): Position {
  return positionOf(new Request('http://localhost/'), id);
}

interface Teller {
  tell(event: StreamEvent): readonly SentFrame[];
  /** Marks the end of the frames that the reader has got. */
  resume(): void;
}

function tellerNamed(name: ProfileName): Teller {
  return withProfile(name, (profile): Teller => {
    const telling = sessionTelling(name, profile);
    let state = telling.start;
    const tell = (event: StreamEvent): readonly SentFrame[] => {
      const told = telling.tell(state, event);
      state = told.state;
      return told.frames;
    };
    const resume = (): void => {
      state = profile.resumed(state);
    };
    return { tell, resume };
  });
}

function told(teller: Teller, events: readonly StreamEvent[]): readonly SentFrame[] {
  return events.flatMap((event) => teller.tell(event));
}

/**
 * Returns the frames for a client that comes back with the id of its last frame, when `happened` of
 * the events have happened.
 */
function toldAgain(
  profile: (typeof profileNames)[number],
  events: readonly StreamEvent[],
  lastId: string,
  happened: number,
): readonly SentFrame[] {
  const { after, frames } = positionAt(lastId);
  const teller = tellerNamed(profile);
  for (const event of events) if (isDurable(event) && event.seq <= after) teller.tell(event);
  teller.resume();
  const coming = [...caughtUp(events.slice(0, happened), after), ...events.slice(happened)];
  const [first, ...rest] = coming;
  if (first === undefined) return [];
  return isDurable(first)
    ? [...withoutRead(told(teller, [first]), frames), ...told(teller, rest)]
    : told(teller, coming);
}

/**
 * Joins messages as a client does that knows only the names of 004: what it has of each at its end.
 */
function messagesOf(
  frames: readonly SentFrame[],
): readonly { readonly joined: string; readonly text: unknown }[] {
  const texts = new Map<unknown, string>();
  return frames.flatMap(({ event, data }) => {
    const { message_id: id, text } = data as { message_id?: string; text?: string };
    if (event === 'MESSAGE_START') texts.set(id, '');
    if (event === 'MESSAGE_CHUNK')
      texts.set(id, (texts.get(id) ?? 'a message that never began') + text);
    return event === 'MESSAGE_END'
      ? [{ joined: texts.get(id) ?? 'a message that never began', text }]
      : [];
  });
}

test.each(profileNames)(
  'profile %s: wherever a stream is cut, what comes after the cut is what would have come',
  (profile) => {
    fc.assert(
      fc.property(arbitraryStream, fc.nat(), fc.nat(), (events, cutAt, lateBy) => {
        const uncut = told(tellerNamed(profile), events);
        const cut = cutAt % (uncut.length + 1);
        const before = uncut.slice(0, cut);
        const lastId = before.findLast(({ id }) => id !== undefined)?.id;
        const position = positionAt(lastId ?? '0');
        // The client comes back when at least everything has happened that it was told.
        const earliest =
          events.findIndex(
            (event) =>
              isDurable(event) && event.seq === position.after + (position.frames > 0 ? 1 : 0),
          ) + 1;
        const happened = earliest + (lateBy % (events.length - earliest + 1));
        const after =
          lastId === undefined
            ? told(tellerNamed(profile), caughtUpFrom(events, happened))
            : toldAgain(profile, events, lastId, happened);
        const durable = (frames: readonly SentFrame[]) =>
          frames.filter(({ id }) => id !== undefined);
        expect(durable([...before, ...after])).toEqual(durable(uncut));
      }),
      { numRuns: 500 },
    );
  },
);

function caughtUpFrom(events: readonly StreamEvent[], happened: number): readonly StreamEvent[] {
  return [...caughtUp(events.slice(0, happened), 0), ...events.slice(happened)];
}

test(
  'profile messages: the chunks of a message from its last start on are its text, wherever ' +
    'the stream was cut',
  () => {
    let cutInMessage = 0;
    fc.assert(
      fc.property(arbitraryStream, fc.nat(), fc.nat(), (events, cutAt, lateBy) => {
        const uncut = told(tellerNamed('messages'), events);
        for (const { joined, text } of messagesOf(uncut)) expect(joined).toBe(text);
        const cut = cutAt % (uncut.length + 1);
        const before = uncut.slice(0, cut);
        const lastId = before.findLast(({ id }) => id !== undefined)?.id;
        if (lastId === undefined) return;
        const position = positionAt(lastId);
        const earliest =
          events.findIndex(
            (event) =>
              isDurable(event) && event.seq === position.after + (position.frames > 0 ? 1 : 0),
          ) + 1;
        const after = toldAgain(
          'messages',
          events,
          lastId,
          earliest + (lateBy % (events.length - earliest + 1)),
        );
        const ended = messagesOf([...before, ...after]);
        for (const { joined, text } of ended) expect(joined).toBe(text);
        if (
          before.at(-1)?.event === 'MESSAGE_CHUNK' &&
          after.some(({ event }) => event === 'MESSAGE_END')
        )
          cutInMessage++;
      }),
      { numRuns: 1_000 },
    );
    // Else the property would hold of nothing.
    expect(cutInMessage).toBeGreaterThan(20);
  },
);

test('positions: what is written can be read, and nothing else', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.integer({ min: 1, max: 6 }),
      (seq, count) => {
        const frames = numbered(
          seq,
          Array.from({ length: count }, (_, i) => ({ event: `e${i}`, data: {} })),
        );
        for (const [index, { id }] of frames.entries()) {
          const position = positionAt(id ?? '');
          const left = position.after === seq ? [] : withoutRead(frames, position.frames);
          expect(left).toEqual(frames.slice(index + 1));
        }
      },
    ),
  );
  for (const wrong of [
    '',
    ' 1',
    '1.',
    '.1',
    '1.0',
    '0.1',
    '1e3',
    '-1',
    '00',
    '1.2.3',
    '99999999999999999999',
  ])
    expect(() => positionAt(wrong)).toThrow(expect.objectContaining({ code: 'invalid_position' }));
});
