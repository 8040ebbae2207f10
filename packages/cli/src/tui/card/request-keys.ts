import { formatCount } from '../../output/format.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import type { GivenDecision } from '../session/conversation.ts';
import type { Line } from '../text/spans.ts';

type Decision = NonNullable<GivenDecision['decision']>;

/** Key of a card, with the words beside it. */
export interface RequestKey {
  readonly key: string;
  readonly words: string;
  readonly decision: Decision;
}

const allKeys: readonly RequestKey[] = [
  { key: 'y', words: 'allow', decision: 'approve' },
  { key: 's', words: 'it happened', decision: 'succeeded' },
  { key: 'r', words: 'run again', decision: 'retry' },
  { key: 'p', words: 'tell the model: unknown', decision: 'report' },
  { key: 'c', words: 'go on', decision: 'continue' },
  { key: 'n', words: 'refuse', decision: 'reject' },
];

/** Returns the keys that answer a request: those of the answers that it offers. */
export function keysOf({ kind, details }: OpenRequest): readonly RequestKey[] {
  return allKeys
    .filter(({ decision }) => details.options.includes(decision))
    .map((one) =>
      kind === 'limit' && one.key === 'n' ? { ...one, words: 'answer with what it has' } : one,
    );
}

/** Key of a card, which need not answer by itself. */
export type ShownKey = Omit<RequestKey, 'decision'> & Partial<RequestKey>;

/** Returns the line of the keys. They are dim while they mean nothing. */
export function keysLine(
  keys: readonly ShownKey[],
  { isDim, others }: { readonly isDim: boolean; readonly others: readonly string[] },
): (unseen: number) => Line {
  return (unseen) => [
    ...keys.flatMap(({ key, words, decision }, at) => {
      const parting = at === 0 ? '' : ' · ';
      const lines = decision === 'approve' ? notSeen(unseen) : '';
      return [
        { text: parting, dim: true },
        isDim ? { text: key, dim: true } : { text: key, bold: true },
        { text: ` ${words}${lines}`, dim: isDim },
      ];
    }),
    { text: [...(keys.length > 0 ? [''] : []), ...others].join(' · '), dim: true },
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
