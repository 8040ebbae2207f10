import type { ServerRequest } from '@adjutant/server/client';
import { useCallback, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { useReader } from '../../api/reader.ts';
import { age, fullTime } from '../../components/format.ts';
import { Space } from '../../components/page-head.tsx';
import { useNarrow } from '../../components/use-narrow.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { Creature } from '../../creatures/creature.tsx';
import styles from './approvals-page.module.css';
import { Batch } from './batch.tsx';
import { Countdown } from './countdown.tsx';
import { isMine, personOf } from './request-words.ts';
import { SessionName } from './session-name.tsx';

interface RequestListProps {
  readonly requests: readonly ServerRequest[];
  readonly chosen: string | undefined;
  readonly now: number;
  /** Several can be chosen and answered at once. */
  readonly hasChoice: boolean;
  readonly onOpen?: (requestId: string) => void;
}

const rowHeight = 81;
const narrowHeight = 102;

/** Requests in a list; those that are ticked are answered by one decision. */
export function RequestList({ requests, chosen, now, hasChoice, onOpen }: RequestListProps) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const height = useNarrow() ? narrowHeight : rowHeight;
  const heightOf = useCallback(() => height, [height]);
  const several = requests.filter(({ requestId }) => ticked.has(requestId));
  const tick = (requestId: string): void => {
    const next = new Set(ticked);
    if (!next.delete(requestId)) next.add(requestId);
    setTicked(next);
  };
  const all = several.length === requests.length;
  return (
    <>
      {hasChoice ? (
        <div className={styles['bar']}>
          <TickAll
            isAll={all}
            isSome={several.length > 0}
            onChange={() =>
              setTicked(new Set(all ? [] : requests.map(({ requestId }) => requestId)))
            }
          />
          <span>{several.length === 0 ? 'None chosen' : `${several.length} chosen`}</span>
          <Space />
          <span>Soonest first</span>
        </div>
      ) : null}
      <VirtualRows
        label="Requests"
        items={requests}
        keyOf={idOf}
        heightOf={heightOf}
        current={chosen}
        {...(onOpen === undefined
          ? {}
          : { onCurrent: (one: ServerRequest) => onOpen(one.requestId) })}
        onKey={(event, { requestId }) => {
          if (hasChoice && event.key.toLowerCase() === 'x') tick(requestId);
        }}
      >
        {(request, { isCurrent }) => (
          <RequestRow
            {...{ request, now, isCurrent, hasChoice }}
            isOpen={request.requestId === chosen}
            isTicked={ticked.has(request.requestId)}
            onTick={() => tick(request.requestId)}
          />
        )}
      </VirtualRows>
      {several.length === 0 ? null : (
        <Batch several={several} now={now} onDone={() => setTicked(new Set())} />
      )}
    </>
  );
}

function idOf({ requestId }: ServerRequest): string {
  return requestId;
}

interface TickAllProps {
  readonly isAll: boolean;
  readonly isSome: boolean;
  readonly onChange: () => void;
}

function TickAll({ isAll, isSome, onChange }: TickAllProps) {
  return (
    <label className={styles['tick']}>
      <input
        type="checkbox"
        aria-label="Choose all"
        checked={isAll}
        ref={(box) => {
          if (box !== null) box.indeterminate = isSome && !isAll;
        }}
        onChange={onChange}
      />
    </label>
  );
}

interface RequestRowProps {
  readonly request: ServerRequest;
  readonly now: number;
  readonly isCurrent: boolean;
  readonly isOpen: boolean;
  readonly hasChoice: boolean;
  readonly isTicked: boolean;
  readonly onTick: () => void;
}

function RequestRow(props: RequestRowProps) {
  const { request, now, isCurrent, isOpen, hasChoice, isTicked, onTick } = props;
  const { requestId, summary, name, agent, status, createdAt, expiresAt } = request;
  const search = useSearch();
  const isOthers = !isMine(useReader(), request);
  const tabIndex = isCurrent ? 0 : -1;
  return (
    <div
      className={styles['row']}
      data-open={isOpen || undefined}
      data-ticks={hasChoice || undefined}
    >
      {hasChoice ? (
        <label className={styles['tick']}>
          <input
            type="checkbox"
            aria-label={`Choose: ${summary}`}
            checked={isTicked}
            tabIndex={tabIndex}
            onChange={onTick}
          />
        </label>
      ) : null}
      <Creature name={agent} size={28} />
      <Link
        className={styles['what'] ?? ''}
        href={`${pathOf('approvals', requestId)}${search === '' ? '' : `?${search}`}`}
        aria-current={isOpen || undefined}
        data-row
        tabIndex={tabIndex}
      >
        <b className="cut">
          <bdi>{firstLine(summary, 160)}</bdi>
        </b>
        <span className={styles['line']}>
          <span className="mono">{firstLine(name, 40)}</span>
          <span className="cut">{firstLine(agent, 40)}</span>
          {isOthers ? <span className={styles['tag']}>not yours</span> : null}
        </span>
        <SessionName session={request.session} />
      </Link>
      <span className={styles['when']}>
        {status === 'pending' ? (
          <Countdown createdAt={createdAt} expiresAt={expiresAt} now={now} />
        ) : (
          <Settled request={request} now={now} />
        )}
      </span>
    </div>
  );
}

interface SettledProps {
  readonly request: ServerRequest;
  readonly now: number;
}

function Settled({ request, now }: SettledProps) {
  const { status, settledBy, settledAt } = request;
  return (
    <span className={styles['settled']}>
      <span>{status}</span>
      <span className="faint cut" title={settledAt === undefined ? undefined : fullTime(settledAt)}>
        {settledBy === undefined || status !== 'answered' ? '' : `${personOf(settledBy)}, `}
        {settledAt === undefined ? '' : `${age(now - settledAt)} ago`}
      </span>
    </span>
  );
}
