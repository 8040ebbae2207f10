import type { ServerRequest } from '@adjutant/server/client';
import { useCallback, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { api } from '../../api/client.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { age, fullTime, plural } from '../../components/format.ts';
import { Space } from '../../components/page-head.tsx';
import { useToast } from '../../components/toasts.tsx';
import { useAct } from '../../components/use-act.ts';
import { useNarrow } from '../../components/use-narrow.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { Creature } from '../../creatures/creature.tsx';
import styles from './approvals-page.module.css';
import { Countdown } from './countdown.tsx';
import { isMine, personOf, unlessAll, unlessAnswerable } from './request-words.ts';

interface RequestListProps {
  readonly requests: readonly ServerRequest[];
  readonly chosen: string | undefined;
  readonly now: number;
  /** Several can be chosen and answered at once. */
  readonly hasChoice: boolean;
  readonly onOpen?: (requestId: string) => void;
}

const rowHeight = 63;
const narrowHeight = 84;

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
        href={`/approvals/${encodeURIComponent(requestId)}${search === '' ? '' : `?${search}`}`}
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

interface BatchProps {
  readonly several: readonly ServerRequest[];
  readonly now: number;
  readonly onDone: () => void;
}

/** Answers that the server takes at once. */
const mostAtOnce = 100;

/** One decision for all that were chosen. Each is answered by itself: some may be refused. */
function Batch({ several, now, onDone }: BatchProps) {
  const me = useReader();
  const show = useToast();
  const { act, isBusy } = useAct();
  const locked = several.map((request) => unlessAnswerable(me, request, now)).find(Boolean);
  const many = several.length > mostAtOnce ? `At most ${mostAtOnce} at once.` : undefined;
  const decide = async (decision: 'approve' | 'reject'): Promise<void> => {
    const answers = several.map(({ requestId }) => ({ requestId, decision }));
    await act({
      run: async () => {
        const refused = (await api.approvals.answerAll(answers)).filter((one) => !one.accepted);
        onDone();
        const [first] = refused;
        if (first === undefined || first.accepted) return;
        const rest = `${plural(refused.length, 'request')} of ${answers.length}`;
        show({
          text: `Not answered: ${rest}. ${String(first.problem['detail'])}`,
          isFailure: true,
        });
      },
      changes: [['approvals'], ['sessions']],
    });
  };
  const unless = (decision: 'approve' | 'reject'): string | undefined =>
    locked ?? many ?? unlessAll(several, decision);
  return (
    <div className={styles['batch']} role="region" aria-label="Answer the chosen ones">
      <b>{several.length} chosen</b>
      <Space />
      <Button
        look="bad"
        isBusy={isBusy}
        unless={unless('reject')}
        onPress={() => void decide('reject')}
      >
        Reject
      </Button>
      <Button
        look="first"
        isBusy={isBusy}
        unless={unless('approve')}
        onPress={() => void decide('approve')}
      >
        Approve {several.length}
      </Button>
    </div>
  );
}
