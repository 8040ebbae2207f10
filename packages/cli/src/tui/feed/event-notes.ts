import type { Event } from 'adjutant';
import { formatSize, formatTokens } from '../../output/format.ts';
import type { Note } from './block.ts';
import { decisionNote } from './decision-notes.ts';
import { isKnown, unknownText } from './known-events.ts';

/** Returns the note about an event that is told in one line. `undefined`: it is not shown. */
export function eventNote(event: Event): Note | undefined {
  const { seq } = event;
  const quietly = (text: string): Note => ({
    kind: 'note',
    sign: 'note',
    tone: 'plain',
    text,
    seq,
  });
  switch (event.type) {
    case 'decision':
      return decisionNote(event);
    case 'handoff': {
      const why = event.reason === undefined ? '' : `: ${event.reason}`;
      const text = `${event.from} hands over to ${event.to}${why}`;
      return { kind: 'note', sign: 'arrow', tone: 'plain', text, seq };
    }
    case 'compaction': {
      const [before, after] = [event.tokensBefore, event.tokensAfter].map(formatTokens);
      return quietly(`Older turns summarised: ${before} → ${after} tok`);
    }
    case 'memory':
      return quietly(`Remembered: ${event.text}`);
    case 'artifact':
      return quietly(`Saved ${event.name} v${event.version}, ${formatSize(event.size)}`);
    case 'error':
      return { kind: 'note', sign: 'failed', tone: 'failure', text: event.error.message, seq };
    default:
      if (isKnown(event)) return undefined;
      return { kind: 'note', sign: 'attention', tone: 'attention', text: unknownText(event) };
  }
}
