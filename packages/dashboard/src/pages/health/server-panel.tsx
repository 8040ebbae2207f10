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
  const isWell = ready.store === 'ok';
  return (
    <Panel title="Server" note={`version ${health.version}`}>
      <dl className={styles['facts']}>
        <div>
          <dt>Process</dt>
          <dd>
            <Status status={ready.status === 'ready' ? 'completed' : 'failed'}>
              {ready.status === 'ready' ? 'Ready' : ready.closing ? 'Closes' : 'Not ready'}
            </Status>
            <span className="faint">for {duration(health.uptime * 1_000)}</span>
          </dd>
        </div>
        <div>
          <dt>Store</dt>
          <dd>
            <Status status={isWell ? 'completed' : 'failed'}>
              {isWell ? 'Answers' : 'Does not answer in time'}
            </Status>
            <span className="faint">{me?.store.kind}</span>
          </dd>
        </div>
        <div>
          <dt>Streams</dt>
          <dd>{ready.deltas === 'everywhere' ? 'reach all processes' : 'of this process'}</dd>
        </div>
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
