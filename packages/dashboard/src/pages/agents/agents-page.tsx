import type { ServerAgent } from '@adjutant/server/client';
import { Link } from 'wouter';
import { useNamed } from '../../address/location.ts';
import { pathOf } from '../../address/paths.ts';
import { useAgentList } from '../../api/agents.ts';
import { PageHead } from '../../components/page-head.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { Creature } from '../../creatures/creature.tsx';
import { AgentDetail } from './agent-detail.tsx';
import styles from './agents-page.module.css';
import { Playground } from './playground.tsx';

/** Everything that can be run: what it takes and may call, and a place to try it. */
export function AgentsPage() {
  const wanted = useNamed('agent');
  const { data: agents, error, refetch } = useAgentList();
  return (
    <>
      <PageHead title="Agents" />
      {agents === undefined ? (
        error === null ? (
          <Reading what="agents" />
        ) : (
          <Failure error={error} what="The agents" onRetry={() => void refetch()} />
        )
      ) : agents.length === 0 ? (
        <PlaceHolder title="There is nothing here that you may run.">
          <p>Register agents with the runtime, or ask for a key that is not bound to others.</p>
        </PlaceHolder>
      ) : (
        <Two agents={agents} wanted={wanted} />
      )}
    </>
  );
}

interface TwoProps {
  readonly agents: readonly ServerAgent[];
  readonly wanted: string | undefined;
}

function Two({ agents, wanted }: TwoProps) {
  const agent = wanted === undefined ? agents[0] : agents.find(({ name }) => name === wanted);
  return (
    <div className={styles['two']}>
      <nav className={styles['list']} aria-label="Agents">
        {agents.map(({ name, kind }) => (
          <Link
            key={name}
            className={styles['entry'] ?? ''}
            href={pathOf('agents', name)}
            aria-current={name === agent?.name ? 'page' : undefined}
          >
            <Creature name={name} size={24} />
            <span className="cut">
              <bdi>{firstLine(name, 80)}</bdi>
            </span>
            <span className="faint">{kind}</span>
          </Link>
        ))}
      </nav>
      {agent === undefined ? (
        <PlaceHolder title="There is no agent with this name." role="alert">
          <p>It may have been renamed, or your key may be bound to others.</p>
        </PlaceHolder>
      ) : (
        <div className={styles['detail']}>
          <AgentDetail agent={agent} />
          <Playground key={agent.name} agent={agent} />
        </div>
      )}
    </div>
  );
}
