import { formatCount } from '../../output/format.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import type { GivenDecision } from '../session/conversation.ts';
import { type Line, textOfLine } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { isUnknownOutcome, moreWords } from './question.ts';

type Decision = NonNullable<GivenDecision['decision']>;

/** Key of a card, with the words beside it. */
export interface RequestKey {
  readonly key: string;
  readonly words: string;
  /** Fewer words, where a line has no room for all of them. */
  readonly short?: string;
  readonly decision: Decision;
}

const allKeys: readonly RequestKey[] = [
  { key: 'y', words: 'allow', decision: 'approve' },
  { key: 's', words: 'it happened', short: 'happened', decision: 'succeeded' },
  { key: 'r', words: 'it did not: run again', short: 'did not: again', decision: 'retry' },
  { key: 'p', words: 'tell the model: unknown', short: 'unknown', decision: 'report' },
  { key: 'c', words: 'go on', decision: 'continue' },
  { key: 'n', words: 'refuse', decision: 'reject' },
];

/** Returns the keys that answer a request: those of the answers that it offers. */
export function keysOf(request: OpenRequest): readonly RequestKey[] {
  const { kind, details } = request;
  const words: Readonly<Record<string, string>> =
    kind === 'limit'
      ? { c: moreWords(request), n: 'answer with what it has' }
      : kind === 'recovery' && !isUnknownOutcome(request)
        ? { s: 'done in another way', r: 'try again', p: 'report the failure' }
        : {};
  return allKeys
    .filter(({ decision }) => details.options.includes(decision))
    .map((one) => ({ ...one, words: words[one.key] ?? one.words }));
}

/** Key of a card, which need not answer by itself. */
export type ShownKey = Omit<RequestKey, 'decision'> & Partial<RequestKey>;

interface KeysLine {
  readonly isDim: boolean;
  /** Keys that answer nothing, with their words. */
  readonly others: readonly string[];
  /** True when the others stay where there is no room for all keys. @default false */
  readonly keepsOthers?: boolean;
  readonly width: number;
}

/** Returns the line of the keys. They are dim while they mean nothing. */
export function keysLine(
  keys: readonly ShownKey[],
  { isDim, others, keepsOthers = false, width }: KeysLine,
): (unseen: number) => Line {
  return (unseen) => {
    const short = keys.map((key) => ({ ...key, words: key.short ?? key.words }));
    const answers = short.map((key) => (key.decision === undefined ? { ...key, words: '' } : key));
    const letters = short.map((key) => ({ ...key, words: '' }));
    const more = keepsOthers ? [others] : [...others.map((_, at) => others.slice(at)), []];
    const lines = [
      ...[keys, short, answers, letters].flatMap((some) =>
        more.map((rest) => lineOf(some, rest, { isDim, unseen })),
      ),
      // The line above tells what was not seen.
      lineOf(letters, [], { isDim, unseen: 0 }),
      lineOf([], others, { isDim, unseen: 0 }),
    ];
    return lines.find((line) => displayWidth(textOfLine(line)) <= width) ?? lines.at(-1) ?? [];
  };
}

function lineOf(
  keys: readonly ShownKey[],
  others: readonly string[],
  { isDim, unseen }: { readonly isDim: boolean; readonly unseen: number },
): Line {
  return [
    ...keys.flatMap(({ key, words, decision }, at) => [
      { text: at === 0 ? '' : ' · ', dim: true },
      isDim ? { text: key, dim: true } : { text: key, bold: true },
      {
        text: `${words === '' ? '' : ` ${words}`}${decision === 'approve' ? notSeen(unseen) : ''}`,
        dim: isDim,
      },
    ]),
    ...others.map((text, at) => ({
      text: `${at + keys.length === 0 ? '' : ' · '}${text}`,
      dim: true,
    })),
  ];
}

function notSeen(unseen: number): string {
  return unseen === 0 ? '' : ` (${formatCount(unseen, 'line')} not seen)`;
}

interface ListKeys {
  readonly isDim: boolean;
  /** Lines of the marked request that the list does not show. */
  readonly unseen: number;
  readonly width: number;
  /** True when several calls can be allowed at once. */
  readonly hasAll: boolean;
}

/** Returns the line of the keys of a list of requests, in fewer words where it is narrow. */
export function listKeys(keys: readonly ShownKey[], list: ListKeys): Line {
  const { isDim, unseen, width, hasAll } = list;
  const letters = keys.map(({ key }) => key).join(' ');
  const blind = keys.some(({ decision }) => decision === 'approve') ? notSeen(unseen) : '';
  const enter = 'Enter details';
  const long = [
    `: the marked one${blind}`,
    ...(hasAll ? ['Y: all that are left (asks once)'] : []),
  ];
  const short = [` marked${blind}`, ...(hasAll ? ['Y all'] : [])];
  const fits = letters.length + [...long, enter].join(' · ').length <= width;
  const words = [...(fits ? long : short), enter];
  // A form is opened by Enter alone.
  if (letters === '') return [{ text: words.slice(1).join(' · '), dim: true }];
  return [
    isDim ? { text: letters, dim: true } : { text: letters, bold: true },
    { text: words.join(' · '), dim: true },
  ];
}
