import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editorWith } from '../../../src/tui/editor/editor.ts';
import { Feed } from '../../../src/tui/feed/feed.ts';
import { blockLines } from '../../../src/tui/screens/block-lines.ts';
import { liveRegion } from '../../../src/tui/screens/live-region.ts';
import type { LiveView } from '../../../src/tui/screens/live-view.ts';
import { type Line, textOfLine } from '../../../src/tui/text/spans.ts';
import { displayWidth } from '../../../src/tui/text/width.ts';
import { drawnSession } from '../feed/drawn-session.ts';

const sizes = fc.record({
  columns: fc.integer({ min: 12, max: 220 }),
  rows: fc.integer({ min: 4, max: 60 }),
  ascii: fc.boolean(),
});
const lines = fc.array(fc.constantFrom('one', 'two '.repeat(40), ''), { maxLength: 30 });
const extras = fc.record({
  typed: lines.map((some) => some.join('\n')),
  stored: fc.array(fc.constantFrom('look at refunds, too', 'x'.repeat(300)), { maxLength: 3 }),
  popup: fc.option(lines),
  card: fc.option(fc.record({ body: lines, top: fc.nat({ max: 40 }) })),
  notice: fc.option(fc.constant('Press ^C again to leave.')),
});

function spans(texts: readonly string[]): Line[] {
  return texts.map((text) => [{ text }]);
}

function viewOf(
  feed: Feed,
  drawn: typeof extras extends fc.Arbitrary<infer T> ? T : never,
): LiveView {
  const { typed, stored, popup, card, notice } = drawn;
  const { model, openText, hasOpenGap, calls, children, runState: state } = feed;
  return {
    ...{ state, model, openText, hasOpenGap, calls, children, stored, now: 9_000, tick: 3 },
    notice: notice === null ? undefined : [{ text: notice }],
    popup: popup === null ? undefined : { rows: spans(popup), marked: 0, keys: 'Esc closes' },
    card:
      card === null
        ? undefined
        : {
            title: [{ text: '? coder asks' }],
            body: spans(card.body),
            top: card.top,
            keys: () => [],
          },
    editor: editorWith(typed),
    placeholder: 'Ask coder something',
    isComposing: true,
    status: { facts: ['coder', 'world', '12.4k tok'], hint: 'Esc interrupts' },
  };
}

test('the live region is never higher than the terminal less two rows, nor as wide', () => {
  fc.assert(
    fc.property(drawnSession, sizes, extras, (events, size, drawn) => {
      const feed = new Feed();
      for (const [at, event] of events.entries()) {
        feed.take(event);
        // Most events change little: a look at each would cost minutes.
        if (at % 9 !== 0) continue;
        const region = liveRegion(viewOf(feed, drawn), size);
        expect(region.lines.length).toBeLessThanOrEqual(Math.max(1, size.rows - 2));
        for (const line of region.lines)
          expect(displayWidth(textOfLine(line))).toBeLessThan(size.columns);
        if (region.cursor !== undefined) expect(region.cursor.y).toBeLessThan(region.lines.length);
      }
    }),
    { numRuns: 30 },
  );
});

test('printed lines leave the last column free', () => {
  fc.assert(
    fc.property(drawnSession, sizes, (events, size) => {
      const feed = new Feed();
      const printed = events.flatMap((event) =>
        feed.take(event).flatMap((block) => blockLines(block, size)),
      );
      for (const line of printed) expect(displayWidth(textOfLine(line))).toBeLessThan(size.columns);
    }),
    { numRuns: 30 },
  );
});
