import type { Feed } from '../feed/feed.ts';
import { gutterSign, lineSpans, type Space, toned } from '../screens/layout.ts';
import type { Line } from '../text/spans.ts';
import { firstWords } from './header.ts';

/** The line above the composer when nothing else has to be said: the oldest request. */
export function standingNotice(
  { requests }: Feed,
  isLoaded: boolean,
  space: Space,
): Line | undefined {
  if (!isLoaded) return [{ text: firstWords() }];
  const [first] = requests;
  if (first === undefined) return undefined;
  return [
    gutterSign('asks', toned('attention'), space),
    ...lineSpans(first.details.summary, {}, 'requestLine'),
    { text: '  /approve · /reject', dim: true },
  ];
}
