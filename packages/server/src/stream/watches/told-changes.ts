import type { Runtime } from 'adjutant';
import type { SentFrame } from '../frame.ts';
import type { Encoding, Piece } from '../replay/telling.ts';
import type { Watches } from './watches.ts';

/** Subject of a stream of changes. */
export interface ToldChanges<Known, Change> {
  readonly watches: Watches<Known, Change>;
  readonly app: Runtime;
  /** Names what has changed: of several changes of it only the newest is told. */
  readonly nameOf: (change: Change) => string;
  /** Frames by which the stream begins. */
  readonly begun: (known: Known) => readonly SentFrame[];
  /** Frames of those changes that the reader may know of. */
  readonly framesOf: (changes: Iterable<Change>) => Promise<readonly SentFrame[]>;
}

/** Gives a reader the newest state of all that has changed since it last took some. */
export async function* toldChanges<Known, Change, Written>(
  { watches, app, nameOf, begun, framesOf }: ToldChanges<Known, Change>,
  encoding: Encoding<Written>,
  signal: AbortSignal,
): AsyncGenerator<Piece<Written>, void, undefined> {
  const changed = new Map<string, Change>();
  let wake = (): void => undefined;
  signal.addEventListener('abort', () => wake(), { once: true });
  const piece = (frames: readonly SentFrame[]): Piece<Written> => ({
    written: encoding.write(frames),
    frames: frames.length,
  });
  const { known, end } = await watches.listen(app, (changes) => {
    for (const change of changes) changed.set(nameOf(change), change);
    wake();
  });
  try {
    yield piece(begun(known));
    while (!signal.aborted) {
      const taken = [...changed.values()];
      changed.clear();
      const frames = await framesOf(taken);
      if (frames.length > 0) yield piece(frames);
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (signal.aborted || changed.size > 0) resolve();
        });
    }
  } finally {
    end();
  }
}
