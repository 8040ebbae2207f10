import type { Event } from 'adjutant';
import type { LedgerStore } from '../../../src/ledger/port.ts';

let idCount = 0;

/** Events of user messages that follow `afterSeq`. */
export function notes(afterSeq: number, texts: readonly string[]): readonly Event[] {
  return texts.map((text, i) => {
    const seq = afterSeq + i + 1;
    return {
      v: 1,
      seq,
      id: `event${++idCount}`,
      at: 1_790_000_000_000 + seq,
      type: 'user',
      by: 'user',
      text,
    };
  });
}

export async function readTexts(
  ledgers: LedgerStore,
  session: string,
): Promise<readonly unknown[]> {
  const texts: unknown[] = [];
  for await (const page of ledgers.read(session))
    texts.push(...page.map((event) => ('text' in event ? event.text : event.type)));
  return texts;
}

/** The code of the error that a promise rejects with, or `resolved`. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => (error as { code?: string }).code ?? (error as Error).name,
  );
}
