import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { Drawer } from '../../../components/drawer.tsx';
import { count, plural } from '../../../components/format.ts';
import { Failure, PlaceHolder, Reading } from '../../../components/states.tsx';
import { firstLine, inline } from '../../../components/visible-text.ts';
import type { Position } from '../position.ts';
import styles from './replay-drawer.module.css';

interface ReplayDrawerProps {
  readonly session: string;
  readonly position: Position;
  readonly onClose: () => void;
}

/**
 * Today's code on the recorded session: answers of models and results of tools come from the
 * record, and the first event that it would make otherwise is shown.
 */
export function ReplayDrawer({ session, position, onClose }: ReplayDrawerProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ['replay', session],
    queryFn: ({ signal }) => api.sessions.replay(session, { signal }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  return (
    <Drawer
      label="Replay"
      onClose={onClose}
      head={<h2 className={styles['title']}>Replay against today’s code</h2>}
    >
      {data === undefined ? (
        error === null ? (
          <Reading what="the replay" />
        ) : (
          <Failure error={error} what="The replay" onRetry={() => void refetch()} />
        )
      ) : data.divergence === undefined ? (
        <PlaceHolder title="Today’s code does the same.">
          <p>{plural(data.events, 'event')} were made again or served from the record.</p>
        </PlaceHolder>
      ) : (
        <Divergence divergence={data.divergence} position={position} events={data.events} />
      )}
    </Drawer>
  );
}

type Replay = Awaited<ReturnType<typeof api.sessions.replay>>;

interface DivergenceProps {
  readonly divergence: NonNullable<Replay['divergence']>;
  readonly events: number;
  readonly position: Position;
}

function Divergence({ divergence, events, position }: DivergenceProps) {
  const { seq, subject, differences } = divergence;
  return (
    <div className={styles['divergence']}>
      <h3>First divergence: #{count(seq)}</h3>
      <p>
        <bdi>{firstLine(subject, 600)}</bdi>
      </p>
      <p className="faint">{plural(events, 'event')} before it are the same.</p>
      <Button look="first" onPress={() => position.go(Math.max(1, seq), true)}>
        Go to #{count(seq)}
      </Button>
      <ul>
        {differences.map(({ path, recorded, replayed }) => (
          <li key={path}>
            <b>{firstLine(path, 200)}</b>
            <del>
              <bdi>{inline(recorded, 2_000)}</bdi>
            </del>
            <ins>
              <bdi>{inline(replayed, 2_000)}</bdi>
            </ins>
          </li>
        ))}
      </ul>
    </div>
  );
}
