import type { ServerRequest } from '@adjutant/server/client';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useNamed } from '../../address/location.ts';
import { pathOf } from '../../address/paths.ts';
import { useReader } from '../../api/reader.ts';
import { count } from '../../components/format.ts';
import { PageHead, Space } from '../../components/page-head.tsx';
import type { Draft } from '../../components/schema-form/shapes.ts';
import { SearchField } from '../../components/search-field.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { useNarrow } from '../../components/use-narrow.ts';
import { useNow } from '../../components/use-now.ts';
import { isTyping } from '../../shell/is-typing.ts';
import styles from './approvals-page.module.css';
import { RequestDetail } from './request-detail.tsx';
import { RequestList } from './request-list.tsx';
import { hasText, isMine } from './request-words.ts';
import { mostShown, usePending, useRequest, useSettled } from './use-requests.ts';

const views = [
  ['mine', 'For me'],
  ['open', 'All open'],
  ['answered', 'Answered'],
] as const;
type View = (typeof views)[number][0];

/** Requests of all sessions: read, edited, answered, also several at once. */
export function ApprovalsPage() {
  const { requests, pending, reading, view, text, setView, setText } = useInbox();
  const opened = useNamed('request');
  const isNarrow = useNarrow();
  const shown = useMemo(
    () => requests?.filter((request) => hasText(request, text)),
    [requests, text],
  );
  const go = useGo(shown ?? [], opened);
  usePinned(opened, isNarrow ? undefined : shown?.[0]?.requestId, go.open);
  useListKeys(go.step);
  return (
    <div className={styles['page']} data-open={opened !== undefined || undefined}>
      <PageHead title="Approvals">
        <span className="faint number">
          {pending === undefined ? '' : `${count(pending)}${pending >= mostShown ? '+' : ''} open`}
        </span>
        <Space />
        <Segmented label="Which" value={view} options={views} onChange={setView} />
        <SearchField label="Filter requests" placeholder="Filter" value={text} onChange={setText} />
      </PageHead>
      {reading.error !== null && shown === undefined ? (
        <Failure error={reading.error} what="The requests" onRetry={() => void reading.refetch()} />
      ) : shown === undefined ? (
        <Reading what="requests" />
      ) : (
        <div className={styles['two']}>
          {isNarrow && opened !== undefined ? null : (
            <List
              {...{ shown, view, text, chosen: opened }}
              onOpen={isNarrow ? undefined : go.open}
            />
          )}
          <Detail chosen={opened} onAnswered={go.next} />
        </div>
      )}
    </div>
  );
}

/** Requests of a view; the address says which. */
function useInbox() {
  const [path, goTo] = useLocation();
  const search = useSearch();
  const me = useReader();
  const params = useMemo(() => new URLSearchParams(search), [search]);
  const view: View = views.find(([name]) => name === params.get('view'))?.[0] ?? 'mine';
  const pending = usePending();
  const settled = useSettled(view === 'answered');
  const reading = view === 'answered' ? settled : pending;
  const requests = useMemo(
    () => (view === 'mine' ? reading.data?.filter((request) => isMine(me, request)) : reading.data),
    [reading.data, view, me],
  );
  const set = (name: string, value: string, to: string): void => {
    const next = new URLSearchParams(params);
    if (value === '') next.delete(name);
    else next.set(name, value);
    goTo(next.size === 0 ? to : `${to}?${next}`, { replace: true });
  };
  return {
    requests,
    pending: pending.data?.length,
    reading,
    view,
    text: params.get('find') ?? '',
    setView: (next: View) => set('view', next === 'mine' ? '' : next, '/approvals'),
    setText: (text: string) => set('find', text, path),
  };
}

/** Opens requests: by name, and the one that is so many rows further. */
function useGo(shown: readonly ServerRequest[], chosen: string | undefined) {
  const [, goTo] = useLocation();
  const search = useSearch();
  const open = useCallback(
    (requestId: string) =>
      goTo(`${pathOf('approvals', requestId)}${search === '' ? '' : `?${search}`}`, {
        replace: true,
      }),
    [goTo, search],
  );
  const step = useCallback(
    (by: number) => {
      const at = shown.findIndex(({ requestId }) => requestId === chosen);
      const next = shown[at + by] ?? (by > 0 ? shown[at - 1] : undefined);
      if (next !== undefined) open(next.requestId);
    },
    [shown, chosen, open],
  );
  const latest = useRef({ chosen, step });
  latest.current = { chosen, step };
  /** Goes on from an answered request, unless the reader has gone on meanwhile. */
  const next = useCallback((answered: string) => {
    if (latest.current.chosen === answered) latest.current.step(1);
  }, []);
  return { open, step, next };
}

/**
 * Opens the first request when none is open. It stays open when it ends: another one in its place
 * would be answered by a press that was meant for it.
 */
function usePinned(
  opened: string | undefined,
  first: string | undefined,
  open: (requestId: string) => void,
): void {
  useEffect(() => {
    if (opened === undefined && first !== undefined) open(first);
  }, [opened, first, open]);
}

/** Arrows go to the next request wherever no field and no list takes them. */
function useListKeys(step: (by: number) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      const { target } = event;
      if (by === undefined || isTyping(event) || event.altKey) return;
      if (target !== document.body && target !== document.getElementById('main')) return;
      event.preventDefault();
      step(by);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [step]);
}

interface ListProps {
  readonly shown: readonly ServerRequest[];
  readonly view: View;
  readonly text: string;
  readonly chosen: string | undefined;
  readonly onOpen: ((requestId: string) => void) | undefined;
}

function List({ shown, view, text, chosen, onOpen }: ListProps) {
  const now = useNow();
  return (
    <section className={styles['list']} aria-label="Requests" data-scroll>
      {shown.length === 0 ? (
        <Empty view={view} text={text} />
      ) : (
        <RequestList
          requests={shown}
          chosen={chosen}
          now={now}
          hasChoice={view !== 'answered'}
          {...(onOpen === undefined ? {} : { onOpen })}
        />
      )}
    </section>
  );
}

function Empty({ view, text }: { readonly view: View; readonly text: string }) {
  if (text !== '') return <PlaceHolder title={`No request matches “${text}”.`} />;
  if (view === 'answered') return <PlaceHolder title="Nothing was answered yet." />;
  return (
    <PlaceHolder title={view === 'mine' ? 'Nobody waits for you.' : 'Nobody waits.'}>
      <p>A run that asks for leave, or for something to know, is shown here at once.</p>
    </PlaceHolder>
  );
}

interface DetailProps {
  readonly chosen: string | undefined;
  readonly onAnswered: (requestId: string) => void;
}

function Detail({ chosen, onAnswered }: DetailProps) {
  const { data, error } = useRequest(chosen);
  // An answer that somebody has begun to write stays while others are looked at.
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  if (chosen === undefined) return null;
  return (
    <section className={styles['detail']} aria-label="Request">
      {error !== null && data === undefined ? (
        <Failure error={error} what="The request" />
      ) : data === undefined ? (
        <Reading what="the request" />
      ) : (
        <RequestDetail
          key={data.requestId}
          request={data}
          draft={drafts[data.requestId]}
          onDraft={(draft) => setDrafts({ ...drafts, [data.requestId]: draft })}
          onAnswered={() => onAnswered(data.requestId)}
        />
      )}
    </section>
  );
}
