import type { ServerSession } from '@adjutant/server/client';
import { useCallback, useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { unlessAllowed } from '../../api/me.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { count } from '../../components/format.ts';
import { PageHead, Space } from '../../components/page-head.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { useNarrow } from '../../components/use-narrow.ts';
import { useNow } from '../../components/use-now.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { type Command, useCommands } from '../../shell/commands.tsx';
import { FilterBar } from './filter-bar.tsx';
import { NewRunDialog } from './new-run-dialog.tsx';
import { filtersOf, isEverything, pickedWith, type SessionFilters } from './session-filters.ts';
import { SessionRow } from './session-row.tsx';
import styles from './sessions-page.module.css';
import { useSessionList } from './use-session-list.ts';

/** All sessions: filtered, searched, two of them compared, new ones begun. */
export function SessionsPage() {
  const search = useSearch();
  const filters = useMemo(() => filtersOf(search), [search]);
  const list = useSessionList(filters);
  const [picked, setPicked] = useState<readonly string[]>([]);
  const [isStarting, setStarting] = useState(false);
  const me = useReader();
  const unless = unlessAllowed(me, 'operate');
  const start = useCallback(() => setStarting(true), []);
  useCommands(
    useMemo(
      (): readonly Command[] =>
        unless === undefined ? [{ name: 'Start a run', icon: 'play', run: start }] : [],
      [unless, start],
    ),
  );
  const { sessions } = list;
  return (
    <>
      <PageHead title="Sessions">
        {sessions === undefined ? null : (
          <span className="faint number">
            {count(sessions.length)}
            {list.hasMore ? '+' : ''}
          </span>
        )}
        <Space />
        <Button look="first" icon="play" unless={unless} onPress={start}>
          Start a run
        </Button>
      </PageHead>
      <FilterBar filters={filters} />
      {list.error !== null && sessions === undefined ? (
        <Failure error={list.error} what="The sessions" onRetry={list.again} />
      ) : sessions === undefined ? (
        <Reading what="sessions" rows={10} />
      ) : sessions.length === 0 ? (
        <Empty filters={filters} />
      ) : (
        <Rows
          sessions={sessions}
          picked={picked}
          onPick={(id) => setPicked(pickedWith(picked, id))}
          onEnd={list.readMore}
        />
      )}
      {list.isReadingMore ? <Reading what="more sessions" rows={3} /> : null}
      <PickedBar picked={picked} onClear={() => setPicked([])} />
      {isStarting ? <NewRunDialog onClose={() => setStarting(false)} /> : null}
    </>
  );
}

function Empty({ filters }: { readonly filters: SessionFilters }) {
  return isEverything(filters) ? (
    <PlaceHolder title="No sessions yet.">
      <p>
        Run one: <code className="mono">adjutant run "…"</code>, or try an agent.
      </p>
      <Link className={styles['link'] ?? ''} href="/agents">
        Agents
      </Link>
    </PlaceHolder>
  ) : (
    <PlaceHolder title="No session matches the filter.">
      <p>Take a part of it away, or clear it.</p>
    </PlaceHolder>
  );
}

const rowHeight = 44;
const narrowHeight = 64;

interface RowsProps {
  readonly sessions: readonly ServerSession[];
  readonly picked: readonly string[];
  readonly onPick: (id: string) => void;
  readonly onEnd: () => void;
}

function Rows({ sessions, picked, onPick, onEnd }: RowsProps) {
  const now = useNow(5_000);
  const height = useNarrow() ? narrowHeight : rowHeight;
  const heightOf = useCallback(() => height, [height]);
  return (
    <div className={styles['rows']}>
      <VirtualRows
        label="Sessions"
        items={sessions}
        keyOf={idOf}
        heightOf={heightOf}
        onEnd={onEnd}
        onKey={(event, { id }) => {
          if (event.key.toLowerCase() === 'x') onPick(id);
        }}
      >
        {(session, { isCurrent }) => (
          <SessionRow
            session={session}
            now={now}
            isCurrent={isCurrent}
            isPicked={picked.includes(session.id)}
            onPick={() => onPick(session.id)}
          />
        )}
      </VirtualRows>
    </div>
  );
}

function idOf({ id }: ServerSession): string {
  return id;
}

interface PickedBarProps {
  readonly picked: readonly string[];
  readonly onClear: () => void;
}

/** Acts on the sessions that were picked. */
function PickedBar({ picked, onClear }: PickedBarProps) {
  const [, go] = useLocation();
  const [a, b] = picked;
  if (a === undefined) return null;
  const compare = (): void =>
    go(`/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b ?? '')}`);
  return (
    <div className={styles['picked']} role="region" aria-label="Picked sessions">
      <b>{picked.length} picked</b>
      <Space />
      <Button look="bare" onPress={onClear}>
        Clear
      </Button>
      <Button
        look="first"
        icon="compare"
        unless={b === undefined ? 'Pick a second session.' : undefined}
        onPress={compare}
      >
        Compare
      </Button>
    </div>
  );
}
