import { describeValue, isCount, isFlag, isOneOf } from '../../../base/options.ts';
import { refuseUse } from './errors.ts';
import { eventFits, readEventPattern } from './event-matchers.ts';
import { readOptions } from './expected-options.ts';
import { type ReadSource, readSource } from './ledger-source.ts';
import { literal } from './literal.ts';
import { failure, type MatcherResult, type RunnerContext } from './matcher-context.ts';
import type { MatchLedgerOptions } from './matcher-types.ts';
import { type StoryLine, storyOf } from './story.ts';
import { alignStory, withoutMargin } from './story-alignment.ts';

type Entry = string | RegExp | Readonly<Record<string, unknown>>;

export function toMatchLedger(
  this: RunnerContext,
  received: unknown,
  expected: unknown,
  options?: unknown,
): MatcherResult {
  const source = readSource('toMatchLedger', received);
  const { exact = true, ...how } = readOptions<MatchLedgerOptions>('toMatchLedger', options, {
    exact: isFlag,
    all: isFlag,
    order: isOneOf('tree', 'ledger'),
    longest: isCount,
  });
  const story = storyOf(source, how);
  if (expected === undefined) return withoutExpectation(this, source, story);
  const entries = readStory(expected, how.all === true);
  if (entries.length === 0 && !exact)
    refuse(
      'an empty story is part of every other; without { exact: false } it says that ' +
        'nothing happened',
    );
  const fits = (entry: Entry, line: StoryLine): boolean => entryFits(this, source, entry, line);
  return exact
    ? matchWhole(this, source, story, entries, fits)
    : matchPart(this, source, story, entries, fits);
}

type Fits = (entry: Entry, line: StoryLine) => boolean;

function matchWhole(
  context: RunnerContext,
  { kind }: ReadSource,
  story: readonly StoryLine[],
  entries: readonly Entry[],
  fits: Fits,
): MatcherResult {
  const pass =
    story.length === entries.length &&
    entries.every((entry, index) => fits(entry, story[index] as StoryLine));
  return {
    pass,
    message: () => {
      const told = story.map(({ line }) => line).join('\n');
      const wanted = alignStory(entries, story, fits)
        .map((entry) =>
          typeof entry === 'number' ? (story[entry] as StoryLine).line : describeEntry(entry),
        )
        .join('\n');
      const body = context.isNot
        ? ['Expected another story than:', '', told]
        : [
            context.utils.diff(wanted, told) ?? '',
            '',
            'The whole story, as it happened:',
            '',
            told || '(nothing happened)',
          ];
      return failure(context, { name: 'toMatchLedger', received: kind, expected: 'story' }, body);
    },
  };
}

function matchPart(
  context: RunnerContext,
  { kind }: ReadSource,
  story: readonly StoryLine[],
  entries: readonly Entry[],
  fits: Fits,
): MatcherResult {
  const found: number[] = [];
  for (let at = 0; at < story.length && found.length < entries.length; at++) {
    if (fits(entries[found.length] as Entry, story[at] as StoryLine)) found.push(at);
  }
  const { utils } = context;
  return {
    pass: found.length === entries.length,
    message: () => {
      const marks = new Set(found);
      const told = story.map(({ line }, index) =>
        marks.has(index) ? `> ${utils.RECEIVED_COLOR(line)}` : `  ${line}`,
      );
      const missing = entries[found.length];
      const where =
        found.length === 0
          ? 'anywhere'
          : `after ${found.length === 1 ? 'the first line' : `the first ${found.length} lines`}`;
      const problem =
        missing === undefined
          ? 'All of these lines come one after the other:'
          : `Not found ${where}: ${utils.EXPECTED_COLOR(describeEntry(missing).trim())}`;
      return failure(
        context,
        { name: 'toMatchLedger', received: kind, expected: 'story, { exact: false }' },
        [problem, '', ...(told.length === 0 ? ['(nothing happened)'] : told)],
      );
    },
  };
}

/**
 * Fails without an expected story: the message shows the story, so that it can be read and put
 * there.
 */
function withoutExpectation(
  context: RunnerContext,
  { kind }: ReadSource,
  story: readonly StoryLine[],
): MatcherResult {
  if (context.isNot) refuse('there is no story that it could be unlike');
  const told = story.map(({ line }) => line);
  return {
    pass: false,
    message: () =>
      failure(context, { name: 'toMatchLedger', received: kind, expected: '' }, [
        'No story is expected yet. The ledger tells this one:',
        '',
        ...told,
      ]),
  };
}

function entryFits(
  context: RunnerContext,
  source: ReadSource,
  entry: Entry,
  { line, event }: StoryLine,
): boolean {
  if (typeof entry === 'string') return line === entry;
  if (entry instanceof RegExp) return line.search(entry) >= 0;
  return eventFits(context, source, event, entry);
}

function describeEntry(entry: Entry): string {
  return typeof entry === 'string' ? entry : literal(entry);
}

function readStory(expected: unknown, all: boolean): readonly Entry[] {
  if (typeof expected === 'string') return withoutMargin(expected);
  if (!Array.isArray(expected))
    refuse(`the story must be a text or a list of lines, not ${describeValue(expected)}`);
  return (expected as readonly unknown[]).map((entry, index): Entry => {
    if (typeof entry === 'string' || entry instanceof RegExp) return entry;
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
      return refuse(
        `entry ${index} of the story must be a line, a regular expression or a part of an ` +
          `event, not ${describeValue(entry)}`,
      );
    }
    const pattern = readEventPattern('toMatchLedger', entry);
    if (!all && pattern['type'] === 'model_start')
      refuse(
        'a story has no events of type model_start unless all are wanted: ' +
          'toMatchLedger(story, { all: true })',
      );
    return pattern;
  });
}

function refuse(reason: string): never {
  return refuseUse('toMatchLedger', reason);
}
