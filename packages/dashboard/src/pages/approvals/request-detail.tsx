import type { ServerRequest } from '@adjutant/server/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { api } from '../../api/client.ts';
import { useReader } from '../../api/reader.ts';
import { CopyMenu } from '../../components/copy/copy-menu.tsx';
import { changesOf } from '../../components/schema-form/changes.ts';
import type { Draft } from '../../components/schema-form/shapes.ts';
import { blankOf, problemsOf } from '../../components/schema-form/shapes.ts';
import { Status } from '../../components/status.tsx';
import { useNow } from '../../components/use-now.ts';
import { firstLine, visible } from '../../components/visible-text.ts';
import { AnswerBar } from './answer-bar.tsx';
import { Arguments } from './arguments.tsx';
import { Countdown } from './countdown.tsx';
import styles from './request-detail.module.css';
import {
  copiedRequest,
  editOf,
  isMine,
  kindWords,
  personOf,
  unlessAnswerable,
} from './request-words.ts';
import { SettledNote } from './settled-note.tsx';
import { type Extent, type StandingChoice, standingChoices } from './standing.ts';
import { StandingList } from './standing-list.tsx';
import { type RequestEvent, useRequestEvent } from './use-requests.ts';

interface RequestDetailProps {
  readonly request: ServerRequest;
  /** Answer that the reader has begun to write, if any. */
  readonly draft: Draft | undefined;
  readonly onDraft: (draft: Draft) => void;
  readonly onAnswered: () => void;
}

/** One request: what is asked, who may decide until when, and the answer. */
export function RequestDetail({ request, draft, onDraft, onAnswered }: RequestDetailProps) {
  const me = useReader();
  const now = useNow();
  const [reason, setReason] = useState('');
  const [always, setAlways] = useState<Extent | undefined>();
  const [isOwn, setOwn] = useState(false);
  const { data: asked } = useRequestEvent(request, 'tool_yield');
  const edit = editOf(request);
  const unless = unlessAnswerable(me, request, now);
  const before = edit?.decision === 'edit' ? (asked?.args ?? request.details) : undefined;
  const value = draft ?? ((before ?? blankOf(edit?.schema)) as Draft | undefined);
  const choices = unless === undefined ? standingChoices(request, asked) : [];
  const isEdited = before !== undefined && changesOf(before, value).length > 0;
  const problems = edit === undefined ? [] : problemsOf(edit.schema, value);
  return (
    <>
      <div className={styles['body']}>
        <Head request={request} seq={asked?.seq} />
        {request.status === 'pending' ? null : <SettledNote {...{ request, now, isOwn }} />}
        <Facts request={request} asked={asked} now={now} />
        <Arguments
          {...{ request, edit, before, value }}
          problems={draft === undefined ? [] : problems}
          isReadOnly={unless !== undefined}
          onChange={onDraft}
        />
        {choices.length === 0 ? null : (
          <Always {...{ choices, always, isEdited }} onChange={setAlways} />
        )}
        {unless === undefined ? (
          <label className={styles['reason']}>
            <span>Reason, for the ledger and the model</span>
            <input value={reason} onChange={(event) => setReason(event.target.value)} />
          </label>
        ) : null}
        <StandingList session={request.session} now={now} />
      </div>
      {request.status === 'pending' ? (
        <AnswerBar
          {...{ request, edit, before, value, problems, reason, always, unless }}
          onSend={() => setOwn(true)}
          onAnswered={onAnswered}
        />
      ) : null}
    </>
  );
}

interface AlwaysProps {
  readonly choices: readonly StandingChoice[];
  readonly always: Extent | undefined;
  /** An edited call is approved alone. */
  readonly isEdited: boolean;
  readonly onChange: (always: Extent | undefined) => void;
}

/** Later calls of the session that an approval holds for, too. */
function Always({ choices, always, isEdited, onChange }: AlwaysProps) {
  const at = choices.findIndex(
    (choice) => JSON.stringify(choice.always) === JSON.stringify(always),
  );
  return (
    <label className={styles['reason']}>
      <span>An approval holds for</span>
      <select
        value={isEdited ? -1 : at}
        disabled={isEdited}
        title={isEdited ? 'An edited call is approved alone.' : undefined}
        onChange={(event) => onChange(choices[Number(event.target.value)]?.always)}
      >
        <option value={-1}>this call only</option>
        {choices.map(({ words }, index) => (
          <option key={words} value={index}>
            this one, and {words} in this session
          </option>
        ))}
      </select>
    </label>
  );
}

interface HeadProps {
  readonly request: ServerRequest;
  readonly seq: number | undefined;
}

function Head({ request, seq }: HeadProps) {
  const { summary, kind, agent, session } = request;
  const { data } = useQuery({
    queryKey: ['sessions', 'one', session],
    queryFn: ({ signal }) => api.sessions.get(session, { signal }),
  });
  const at = seq === undefined ? '' : `?at=${seq}`;
  return (
    <header className={styles['head']}>
      <Link className={styles['back'] ?? ''} href="/approvals">
        All requests
      </Link>
      <h2>
        <bdi>{visible(summary)}</bdi>
      </h2>
      <p className={styles['by']}>
        <Status status={request.status === 'pending' ? 'waiting' : 'held'}>
          {kindWords[kind]}
        </Status>
        <span>
          {firstLine(agent, 60)} asks in{' '}
          <Link className={styles['link'] ?? ''} href={`${pathOf('sessions', session)}${at}`}>
            <bdi>{firstLine(data?.title ?? session, 80)}</bdi>
          </Link>
        </span>
        {seq === undefined ? null : <span className="mono faint">#{seq}</span>}
        <CopyMenu what="the request" isSmall copied={() => copiedRequest(request)} />
      </p>
    </header>
  );
}

interface FactsProps {
  readonly request: ServerRequest;
  readonly asked: RequestEvent | null | undefined;
  readonly now: number;
}

function Facts({ request, asked, now }: FactsProps) {
  const me = useReader();
  const { mayDecide, createdAt, expiresAt, status } = request;
  const isOpen = status === 'pending';
  const isMay = isMine(me, request) && me?.permissions.includes('operate') === true;
  return (
    <dl className={styles['facts']}>
      {isOpen ? (
        <div>
          <dt>Answer within</dt>
          <dd>
            <Countdown {...{ createdAt, expiresAt, now }} />
          </dd>
        </div>
      ) : null}
      {isOpen && expiresAt !== undefined ? (
        <div>
          <dt>Then</dt>
          <dd>{thenWords(asked)}</dd>
        </div>
      ) : null}
      <div>
        <dt>Who may decide</dt>
        <dd>
          <bdi>{mayDecide === undefined ? 'any operator' : mayDecide.map(personOf).join(', ')}</bdi>
          {isOpen ? <span className={styles['tag']}>{isMay ? 'you too' : 'not you'}</span> : null}
        </dd>
      </div>
      {asked?.request?.['destructive'] === true ? (
        <div>
          <dt>Can be undone</dt>
          <dd className={styles['bad']}>no</dd>
        </div>
      ) : null}
    </dl>
  );
}

/** End of a request that nobody answers in time, in words. */
function thenWords(asked: RequestEvent | null | undefined): string {
  const { onExpire, escalateTo } = asked?.request ?? {};
  if (onExpire === 'escalate' && Array.isArray(escalateTo))
    return `${escalateTo.map((one) => personOf(String(one))).join(', ')} is asked`;
  if (typeof onExpire === 'object' && onExpire !== null && 'default' in onExpire)
    return `it counts as ${JSON.stringify(onExpire.default)}`;
  return 'it counts as rejected';
}
