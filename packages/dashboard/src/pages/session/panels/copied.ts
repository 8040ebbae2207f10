import type { Moment } from '@adjutant/server/client';
import { api } from '../../../api/client.ts';
import type { Copied } from '../../../components/copy/copied-text.ts';
import { fullTime } from '../../../components/format.ts';
import { inline } from '../../../components/visible-text.ts';
import type { LedgerEvent } from '../../../ledger/event-pages.ts';
import { eventWords } from '../../../ledger/event-words.ts';

export function copiedEvent(session: string, event: LedgerEvent): Copied {
  const { seq, type } = event;
  return {
    title: `#${seq} ${type}`,
    facts: [
      ['Session', session],
      ['Time', timeOf(event)],
      ['By', inline(event['by'], 80)],
      ['Says', eventWords(event)],
    ],
    data: event,
    request: {
      path: ['sessions', session, 'events'],
      query: { after: seq - 1, limit: 1, values: 'full' },
    },
  };
}

export function copiedDecision(session: string, event: LedgerEvent): Copied {
  const { seq } = event;
  const alternatives = event['alternatives'];
  return {
    title: `Decision of ${inline(event['component'], 60)}: ${inline(event['decision'], 200)}`,
    facts: [
      ['Session', `${session} #${seq}`],
      ['Time', timeOf(event)],
      ['Because', inline(event['reasoning'], 2_000)],
      ['Not chosen', Array.isArray(alternatives) ? alternatives.map(wordsOf).join(', ') : ''],
    ],
    data: event,
    request: {
      path: ['sessions', session, 'decisions'],
      query: { after: seq - 1, at: seq, limit: 1 },
    },
  };
}

/** The state of all scopes at the moment's event, large values whole. */
export async function copiedState(session: string, { at, state }: Moment): Promise<Copied> {
  const hasReferences = JSON.stringify(state).includes('"$blob"');
  return {
    title: `State of ${session} at #${at}`,
    data: hasReferences
      ? (await api.sessions.moment(session, { at, values: 'full' })).state
      : state,
    request: { path: ['sessions', session, 'state'], query: { at } },
  };
}

function timeOf(event: LedgerEvent): string {
  return typeof event['at'] === 'number' ? fullTime(event['at']) : '';
}

function wordsOf(value: unknown): string {
  return inline(value, 200);
}
