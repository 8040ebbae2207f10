import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { api } from '../../api/client.ts';
import { unlessAllowed } from '../../api/me.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy/copy-button.tsx';
import { PageHead, Space } from '../../components/page-head.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { useAct } from '../../components/use-act.ts';
import { firstLine } from '../../components/visible-text.ts';
import type { FollowedLedger } from '../../ledger/followed-ledger.ts';
import { align, sharedEvents } from './alignment.ts';
import { ComparedFigures } from './compared-figures.tsx';
import { ComparedRows } from './compared-rows.tsx';
import { ComparedState } from './compared-state.tsx';
import { ComparedStrips } from './compared-strips.tsx';
import styles from './comparison.module.css';
import { markdownOf } from './markdown.ts';

type View = 'differences' | 'all' | 'state';

interface ComparisonProps {
  readonly left: FollowedLedger;
  readonly right: FollowedLedger;
}

export function Comparison({ left, right }: ComparisonProps) {
  const [view, setView] = useState<View>('differences');
  const [one, other] = [left.columns, right.columns];
  // biome-ignore lint/correctness/useExhaustiveDependencies: shapes stand for the columns
  const { shared, rows } = useMemo(() => {
    const common = sharedEvents(one, other);
    return { shared: common, rows: align(one, other, common) };
  }, [one, other, left.shape, right.shape]);
  const sides = { left, right };
  return (
    <div className={styles['comparison']}>
      <PageHead title="Compare">
        <Space />
        <Segmented
          label="View"
          value={view}
          onChange={setView}
          options={[
            ['differences', 'Differences'],
            ['all', 'All events'],
            ['state', 'State'],
          ]}
        />
        <CopyButton text={() => markdownOf({ ...sides, shared, rows })}>
          Copy as Markdown
        </CopyButton>
        <GoOn session={right.session} />
      </PageHead>
      <ComparedStrips {...sides} shared={shared} shape={left.shape + right.shape} />
      <ComparedFigures {...sides} />
      <Names left={left.session} right={right.session} shared={shared} />
      {view === 'state' ? (
        <ComparedState {...sides} />
      ) : (
        <ComparedRows {...sides} shared={shared} rows={rows} withShared={view === 'all'} />
      )}
    </div>
  );
}

/** Runs the fork: its open run goes on in the background. */
function GoOn({ session }: { readonly session: string }) {
  const { act, isBusy } = useAct();
  const [, go] = useLocation();
  const unless = unlessAllowed(useReader(), 'operate');
  return (
    <>
      <Button onPress={() => go(pathOf('sessions', session))}>Open B</Button>
      <Button
        look="first"
        icon="play"
        unless={unless}
        isBusy={isBusy}
        onPress={() =>
          void act({ run: () => api.sessions.continue(session), changes: [['sessions']] })
        }
      >
        Run B
      </Button>
    </>
  );
}

interface NamesProps {
  readonly left: string;
  readonly right: string;
  readonly shared: number;
}

function Names({ left, right, shared }: NamesProps) {
  return (
    <div className={styles['names']}>
      {(
        [
          ['A', left],
          ['B', right],
        ] as const
      ).map(([name, session]) => (
        <Link key={name} href={`${pathOf('sessions', session)}?at=${Math.max(1, shared)}`}>
          <b>{name}</b>
          <bdi className="mono cut">{firstLine(session, 120)}</bdi>
        </Link>
      ))}
    </div>
  );
}
