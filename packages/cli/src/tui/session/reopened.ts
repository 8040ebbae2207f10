import type { Event } from 'adjutant';
import { formatDuration } from '../../output/format.ts';
import type { Block, Note } from '../feed/block.ts';
import { blockLines } from '../screens/block-lines.ts';
import type { Space } from '../screens/layout.ts';
import { sign } from '../text/signs.ts';
import type { Line } from '../text/spans.ts';

const shownTurns = 3;
const shownLines = 40;
const aMinute = 60_000;

/** The last turns of a session that is opened again, in at most 40 lines. */
export function lastTurns(blocks: readonly Block[], space: Space): readonly Line[] {
  const turns = blocks.at(-1)?.turn ?? 0;
  const first = Math.max(1, turns - shownTurns + 1);
  const lines = blocks
    .filter(({ turn }) => turn >= first)
    .flatMap((block) => blockLines(block, space));
  const shown = lines.slice(-shownLines);
  const earlier = first - 1;
  const dots = sign('earlier', space.ascii);
  if (earlier === 0 && shown.length === lines.length) return shown;
  const count = earlier === 0 ? 'more above' : `${earlier} earlier turn${earlier === 1 ? '' : 's'}`;
  return [[{ text: `  ${dots} ${count}: /show all ${dots}`, dim: true }], ...shown];
}

/** The note about an open run whose process has ended in the middle of it. */
export function cutOffNote(
  events: readonly Event[],
  isInModelCall: boolean,
  now: number,
): Omit<Note, 'kind'> {
  const where = isInModelCall ? ' in a model call' : '';
  const { seq: place = 0, at = now } = events.at(-1) ?? {};
  const ago = now - at < aMinute ? '' : ` ${formatDuration(now - at)} ago`;
  const text = `Cut off${ago}${where}: the process ended (#${place}).  Enter goes on`;
  return { sign: 'stopped', tone: 'attention', text };
}
