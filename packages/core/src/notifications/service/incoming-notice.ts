import { cutText } from '../../base/text/cut-text.ts';
import type { InboxEntry } from '../../ledger/port.ts';
import type { AcceptedNotice } from './notifier-state.ts';

/** Characters of an error that a person is told of; the record of the task has all of it. */
const longestError = 1_000;

/** The notice of an item; `undefined` for one that is none. */
export function noticeOf(
  { data, key, type }: InboxEntry,
  tenant: string,
): AcceptedNotice | undefined {
  if (type === 'child_end') return completionOf(key, data as unknown as Completion, tenant);
  if (type !== 'service' || data['command'] !== 'notify') return undefined;
  const notice = data['notice'] as unknown as Partial<AcceptedNotice> | undefined;
  return typeof notice?.id === 'string' && typeof notice.user === 'string'
    ? (notice as AcceptedNotice)
    : undefined;
}

interface Completion {
  readonly user: string;
  readonly channels?: readonly string[];
  readonly task: string;
  readonly name: string;
  readonly session: string;
  readonly status: string;
  readonly error?: { readonly message: string };
}

/** The notice of the end of a task. It refers to the result, and does not copy it. */
function completionOf(key: string, end: Completion, tenant: string): AcceptedNotice {
  const { channels, error, name, session, status, task, user } = end;
  return {
    ...{ id: key, tenant, user, title: `"${name}" ${wordsOf(status)}` },
    text:
      status === 'completed' ? `I finished: ${name}.` : cutText(error?.message ?? '', longestError),
    about: { session, run: task },
    ...(channels === undefined ? {} : { channels }),
  };
}

function wordsOf(status: string): string {
  switch (status) {
    case 'completed':
      return 'is done';
    case 'cancelled':
      return 'was cancelled';
    case 'timeout':
      return 'was not done in time';
    default:
      return 'has failed';
  }
}
