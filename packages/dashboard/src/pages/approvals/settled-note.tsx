import type { ServerRequest } from '@adjutant/server/client';
import { useState } from 'react';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { age } from '../../components/format.ts';
import { visible } from '../../components/visible-text.ts';
import styles from './request-detail.module.css';
import { decisionWords, personOf } from './request-words.ts';
import { useRequestEvent } from './use-requests.ts';

interface SettledNoteProps {
  readonly request: ServerRequest;
  readonly now: number;
  /** The reader has answered it. */
  readonly isOwn: boolean;
}

/** Note about the person who has settled a request, and the answer. */
export function SettledNote({ request, now, isOwn }: SettledNoteProps) {
  const { status, settledBy, settledAt, session } = request;
  const { data: answer } = useRequestEvent(request, 'tool_input');
  // A note that is there from the beginning is no surprise.
  const [isSurprise] = useState(() => settledAt !== undefined && now - settledAt < 5_000);
  const ago = settledAt === undefined ? '' : ` ${age(now - settledAt)} ago`;
  const decision = answer?.decision === undefined ? 'answered' : decisionWords[answer.decision][1];
  return (
    <div className={styles['note']} role="status">
      <p>
        {status === 'answered'
          ? `${personOf(settledBy ?? 'somebody')} answered this${ago}: ${decision}.`
          : `${endWords[status] ?? status}${ago === '' ? '.' : `,${ago}.`}`}
        {isSurprise && !isOwn ? ' Nothing was sent twice.' : ''}
      </p>
      {answer?.reason === undefined ? null : (
        <p className="soft">
          <bdi>{visible(answer.reason)}</bdi>
        </p>
      )}
      {answer === undefined || answer === null ? null : (
        <Link
          className={styles['link'] ?? ''}
          href={`${pathOf('sessions', session)}?at=${answer.seq}`}
        >
          The answer, #{answer.seq}
        </Link>
      )}
    </div>
  );
}

const endWords: Readonly<Record<string, string>> = {
  expired: 'Expired: nobody answered in time',
  escalated: 'Nobody answered in time: others are asked',
  cancelled: 'The run was cancelled before anybody answered',
  withdrawn: 'It was taken back before anybody answered',
};
