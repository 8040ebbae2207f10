import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api/client.ts';
import { useReader } from '../../api/reader.ts';
import { count, duration, plural } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { Failure } from '../../components/states.tsx';
import { Status } from '../../components/status.tsx';
import styles from './health-page.module.css';

const probeMs = 10_000;

const processStatus = { ready: 'completed', degraded: 'waiting', not_ready: 'failed' } as const;
const processWords = { ready: 'Ready', degraded: 'Refuses some requests', not_ready: 'Not ready' };
const storeStatus = { ok: 'completed', read_only: 'waiting', unavailable: 'failed' } as const;
const storeWords = {
  ok: 'Answers',
  read_only: 'Disk full: reads only',
  unavailable: 'Does not answer in time',
};

/** The process that answers, its store, and its queue. */
export function ServerPanel() {
  const me = useReader();
  const probe = useQuery({
    queryKey: ['health', 'probe'],
    queryFn: async ({ signal }) => ({
      health: await api.health({ signal }),
      ready: await api.readiness({ signal }),
    }),
    refetchInterval: probeMs,
  });
  if (probe.data === undefined)
    return probe.error === null ? null : <Failure error={probe.error} what="The server" />;
  const { health, ready } = probe.data;
  return (
    <Panel title="Server" note={`version ${health.version}`}>
      <dl className={styles['facts']}>
        <div>
          <dt>Process</dt>
          <dd>
            <Status status={processStatus[ready.status]}>
              {ready.closing ? 'Closes' : processWords[ready.status]}
            </Status>
            <span className="faint">for {duration(health.uptime * 1_000)}</span>
          </dd>
        </div>
        <div>
          <dt>Store</dt>
          <dd>
            <Status status={storeStatus[ready.store]}>{storeWords[ready.store]}</Status>
            <span className="faint">{me?.store.kind}</span>
          </dd>
        </div>
        <div>
          <dt>Streams</dt>
          <dd>{ready.deltas === 'everywhere' ? 'reach all processes' : 'of this process'}</dd>
        </div>
        {ready.degraded.includes('overloaded') && (
          <div>
            <dt>Load</dt>
            <dd>
              <Status status="waiting">Refuses requests until there is room</Status>
            </dd>
          </div>
        )}
        <Queue />
      </dl>
    </Panel>
  );
}

const mostTasks = 500;

function Queue() {
  const { data: tasks, error } = useQuery({
    queryKey: ['tasks', 'health'],
    queryFn: ({ signal }) => api.tasks.list({ limit: mostTasks }, { signal }),
  });
  // An app without tasks has no queue.
  if (tasks === undefined || error !== null) return null;
  const running = tasks.filter(({ state }) => state === 'running').length;
  const waiting = tasks.length - running;
  return (
    <div>
      <dt>Queue</dt>
      <dd>
        <Link className={styles['link'] ?? ''} href="/tasks">
          {plural(waiting, 'task')} wait{waiting === 1 ? 's' : ''}
        </Link>
        <span className="faint">{count(running)} running</span>
      </dd>
    </div>
  );
}
