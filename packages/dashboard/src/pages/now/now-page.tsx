import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { useConnection } from '../../api/connection.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { PageHead, Space } from '../../components/page-head.tsx';
import { Failure, Reading as ReadingBars } from '../../components/states.tsx';
import { useNow } from '../../components/use-now.ts';
import { useChosenCreatures } from '../../creatures/chosen-creatures.ts';
import type { CreatureName } from '../../creatures/registry.ts';
import { useCommands } from '../../shell/commands.tsx';
import { CreatureDialog } from './habitat/creature-dialog.tsx';
import { Habitat } from './habitat/habitat.tsx';
import { placesOfApp, placesOfDemo } from './live/places.ts';
import { readNow } from './live/read-now.ts';
import type { Reading } from './live/reading.ts';
import { signsOf } from './live/signs.ts';
import { recentDecisions } from './live/tail.ts';
import { useDemo, useShown } from './live/use-shown.ts';
import styles from './now-page.module.css';
import { AtWork } from './panels/at-work.tsx';
import { Decisions } from './panels/decisions.tsx';
import { Figures } from './panels/figures.tsx';
import { QueuePanel } from './queue/queue-panel.tsx';

/** Milliseconds after which it is read again when no change was told. */
const againMs = 10_000;
const mostDecisions = 8;

/** The present moment of the app: creatures, queue, sessions at work, decisions. */
export function NowPage() {
  const connection = useConnection();
  const { data, error, refetch } = useQuery({
    queryKey: ['now'],
    queryFn: readNow,
    refetchInterval: againMs,
  });
  if (data === undefined)
    return (
      <>
        <PageHead title="Now" />
        {error === null ? (
          <BeforeReading />
        ) : (
          <Failure error={error} what="The sessions" onRetry={() => void refetch()} />
        )}
      </>
    );
  return <Now reading={data} isLive={error === null && connection.state !== 'lost'} />;
}

/** The places of the page, while what they show is read. */
function BeforeReading() {
  return (
    <div className={styles['page']}>
      <div className={`${styles['left']} ${styles['place']}`}>
        <ReadingBars what="the sessions" rows={10} isAtOnce />
      </div>
      <div className={`${styles['side']} ${styles['place']}`}>
        <ReadingBars what="the queue" rows={5} isAtOnce />
      </div>
    </div>
  );
}

interface NowProps {
  readonly reading: Reading;
  readonly isLive: boolean;
}

function Now({ reading, isLive }: NowProps) {
  const [isDemo, setDemo] = useState(false);
  const [isEdited, setEdited] = useState(false);
  const [showsAll, setShowsAll] = useState(false);
  const now = useNow();
  const me = useReader();
  const decisions = useMemo(() => recentDecisions(reading.tails, mostDecisions), [reading]);
  const closeDialog = useCallback(() => setEdited(false), []);
  const agents = useAgents(reading);
  useCommands(
    useMemo(
      () => [
        { name: 'Demo run', icon: 'play', run: () => setDemo(true) },
        { name: 'Which creature stands for what', icon: 'edit', run: () => setEdited(true) },
      ],
      [],
    ),
  );
  return (
    <>
      <PageHead title="Now">
        <span className={styles['live']} data-live={isLive || undefined}>
          {isLive ? 'Live' : 'Not connected'}
        </span>
        <Space />
        <Figures reading={reading} now={now} />
        <Button isPressed={showsAll} onPress={() => setShowsAll(!showsAll)}>
          All creatures
        </Button>
        <Button
          icon={isDemo ? 'pause' : 'play'}
          isPressed={isDemo}
          onPress={() => setDemo(!isDemo)}
        >
          {isDemo ? 'Stop demo' : 'Demo run'}
        </Button>
        <Button
          look="bare"
          icon="edit"
          label="Which creature stands for what"
          onPress={() => setEdited(true)}
        />
      </PageHead>
      <div className={styles['page']}>
        <div className={styles['left']}>
          {isDemo ? <DemoHabitat showsAll={showsAll} /> : null}
          {isDemo ? null : (
            <LiveHabitat reading={reading} agents={agents} now={now} showsAll={showsAll} />
          )}
          <AtWork reading={reading} now={now} onDemo={() => setDemo(true)} />
        </div>
        <aside className={styles['side']}>
          <QueuePanel tasks={reading.tasks} store={me?.store.kind} />
          <Decisions decisions={decisions} />
        </aside>
      </div>
      {isEdited ? <CreatureDialog agents={agents} onClose={closeDialog} /> : null}
    </>
  );
}

/** Names of the agents of the app, and of others that are at work. */
function useAgents(reading: Reading): readonly string[] {
  return useMemo(() => {
    const registered = reading.agents.map(({ name }) => name);
    const others = [...signsOf(reading, 0).agents.keys()].filter(
      (name) => !registered.includes(name),
    );
    return [...registered, ...others.sort()];
  }, [reading]);
}

interface LiveHabitatProps {
  readonly reading: Reading;
  readonly agents: readonly string[];
  readonly now: number;
  readonly showsAll: boolean;
}

function LiveHabitat({ reading, agents, now, showsAll }: LiveHabitatProps) {
  const signs = useMemo(() => signsOf(reading, now), [reading, now]);
  const [heard] = useState(() => new Set<CreatureName>());
  for (const creature of signs.components.keys()) heard.add(creature);
  const many = heard.size;
  const chosen = useChosenCreatures();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the set is the same, and grows
  const places = useMemo(
    () => placesOfApp(agents, heard, { showsAll, chosen }),
    [agents, heard, many, showsAll, chosen],
  );
  return <Habitat places={places} shown={useShown(places, signs)} />;
}

function DemoHabitat({ showsAll }: { readonly showsAll: boolean }) {
  const places = useMemo(() => placesOfDemo({ showsAll }), [showsAll]);
  const shown = useDemo(true);
  return (
    <div className={styles['demo']}>
      <p role="status">
        <b>Demo run.</b> The work in the zones is made up. The figures and lists around them are
        real.
      </p>
      <Habitat places={places} shown={shown ?? new Map()} />
    </div>
  );
}
