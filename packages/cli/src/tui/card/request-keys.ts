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

/** Returns the line of the keys. They are dim while they mean nothing. */
export function keysLine(
  keys: readonly (Omit<RequestKey, 'decision'> & Partial<RequestKey>)[],
  { isDim, others }: { readonly isDim: boolean; readonly others: readonly string[] },
): (unseen: number) => Line {
  return (unseen) => [
    ...keys.flatMap(({ key, words, decision }, at) => {
      const parting = at === 0 ? '' : ' · ';
      const isBlind = decision === 'approve' && unseen > 0;
      const lines = isBlind ? ` (${unseen} ${unseen === 1 ? 'line' : 'lines'} not seen)` : '';
      return [
        { text: parting, dim: true },
        isDim ? { text: key, dim: true } : { text: key, bold: true },
        { text: ` ${words}${lines}`, dim: isDim },
      ];
    }),
    { text: [...(keys.length > 0 ? [''] : []), ...others].join(' · '), dim: true },
  ];
}
