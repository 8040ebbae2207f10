import { SeqOutOfRangeError } from 'adjutant/errors';
import { RequestRefusedError } from '../http/problem.ts';
import type { Frame, SentFrame } from './frame.ts';

/** Where a stream goes on. */
export interface Position {
  /** `seq` of the last event of which all frames were read. */
  readonly after: number;
  /** Number of frames of the next event that were read. */
  readonly frames: number;
}

export const beginning: Position = { after: 0, frames: 0 };

const written = /^(0|[1-9]\d{0,14})(?:\.([1-9]\d{0,3}))?$/;

/** The shape of positions, for schemas. */
export const positionPattern = written;

/**
 * Reads a position: `5` stands behind event 5, `5.1` behind the first of several frames of event 5.
 */
function parsePosition(text: string): Position | undefined {
  const match = written.exec(text);
  if (match === null) return undefined;
  const seq = Number(match[1]);
  const frames = Number(match[2] ?? 0);
  if (frames === 0) return { after: seq, frames: 0 };
  return seq === 0 ? undefined : { after: seq - 1, frames };
}

/**
 * Where a request wants its stream to go on: behind `Last-Event-ID`, else behind `?after=`, else
 * from the beginning.
 * @throws RequestRefusedError `invalid_position` (400)
 */
export function positionOf(request: Request, after: string | undefined): Position {
  const header = request.headers.get('last-event-id');
  const text = header === null || header === '' ? after : header;
  if (text === undefined) return beginning;
  const position = parsePosition(text);
  if (position !== undefined) return position;
  throw new RequestRefusedError(
    400,
    'invalid_position',
    `A stream cannot go on behind what ${text === header ? 'Last-Event-ID' : '?after='} ` +
      'says: give the id of an event of this stream, such as 17.',
  );
}

/** @param last `seq` of the session's last event. @throws SeqOutOfRangeError */
export function assertInLedger({ after, frames }: Position, last: number): void {
  const seq = frames === 0 ? after : after + 1;
  if (seq > last) throw new SeqOutOfRangeError({ seq, last });
}

/**
 * Gives the frames of a durable event their ids: the event's `seq` to the last one, and its place
 * among them to those before.
 */
export function numbered(seq: number, frames: readonly Frame[]): readonly SentFrame[] {
  const count = frames.filter(({ isTransient }) => isTransient !== true).length;
  let place = 0;
  return frames.map(({ event, data, isTransient }) => {
    if (isTransient === true) return { event, data };
    place++;
    return { id: place === count ? String(seq) : `${seq}.${place}`, event, data };
  });
}

/** Leaves out the frames that were read before. What is transient among them goes as well. */
export function withoutRead(frames: readonly SentFrame[], read: number): readonly SentFrame[] {
  if (read === 0) return frames;
  let place = 0;
  const first = frames.findIndex(({ id }) => id !== undefined && ++place > read);
  return first < 0 ? [] : frames.slice(first);
}
