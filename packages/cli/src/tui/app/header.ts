import type { Event } from 'adjutant';
import { firstWords } from '../../host/first-words.ts';
import { formatCount, formatMoment, shorten } from '../../output/format.ts';
import { costText } from '../feed/amounts.ts';
import { noTotals, withUsage } from '../feed/totals.ts';
import { lineSpans, type Space } from '../screens/layout.ts';
import { endingOf, type Workplace } from '../session/workplace.ts';
import type { Line } from '../text/spans.ts';
import { wrapLine } from '../text/wrap.ts';

/** Characters of a title that are shown. */
const longestTitle = 40;

/** The lines that a session begins with. */
export function headerLines(
  workplace: Workplace,
  session: string | undefined,
  events: readonly Event[],
  holder: string | undefined,
  space: Space,
): readonly Line[] {
  const first = [firstWords(), workplace.title].join(' · ');
  const ending = session === undefined ? [] : [endingOf(session)];
  const second =
    events.length === 0 || session === undefined
      ? [['new session', ...ending].join(' '), ...workplace.facts].join(' · ')
      : [
          sessionWords(session, events),
          ...(holder === undefined ? [] : [`works in ${holder}`]),
        ].join(' · ');
  return [first, second].flatMap((text, at) =>
    wrapLine(lineSpans(text, at === 0 ? {} : { dim: true }), space.columns - 1, 2),
  );
}

function sessionWords(session: string, events: readonly Event[]): string {
  const title = events.find((event) => event.type === 'user')?.text ?? '';
  const last = events.at(-1);
  const totals = events.reduce(
    (sum, event) => (event.type === 'model_end' ? withUsage(sum, event) : sum),
    noTotals,
  );
  const name = title === '' ? '' : ` "${shorten(title.split('\n')[0] ?? '', longestTitle)}"`;
  const when = last === undefined ? [] : [formatMoment(last.at, Date.now())];
  return [
    `session ${endingOf(session)}${name}`,
    formatCount(events.length, 'event'),
    ...when,
    costText(totals),
  ].join(' · ');
}
