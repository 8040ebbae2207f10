import type { ServerTrigger } from '@adjutant/server/client';
import { useCallback, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useNamed } from '../../address/location.ts';
import { refusalOf } from '../../api/client.ts';
import { unlessAllowed } from '../../api/me.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { count } from '../../components/format.ts';
import { PageHead, Space } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { useNow } from '../../components/use-now.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { type Command, useCommands } from '../../shell/commands.tsx';
import { DayChart } from './day-chart.tsx';
import { TriggerDialog } from './trigger-dialog.tsx';
import { TriggerDrawer } from './trigger-drawer.tsx';
import { TriggerRow } from './trigger-row.tsx';
import styles from './triggers-page.module.css';
import { type TriggerActs, useTriggerActs, useTriggers } from './use-triggers.ts';

/** Triggers: what starts work by itself, when next, and what became of it. */
export function TriggersPage() {
  const trigger = useNamed('trigger');
  const [path, go] = useLocation();
  const search = useSearch();
  const text = new URLSearchParams(search).get('find') ?? '';
  const { data: triggers, error, refetch } = useTriggers();
  const [isMaking, setMaking] = useState(false);
  const make = useCallback(() => setMaking(true), []);
  const acts = useTriggerActs();
  const hasNone = refusalOf(error)?.code === 'triggers_unavailable';
  const allowed = unlessAllowed(useReader(), 'operate');
  const unless = hasNone ? 'This app has no triggers.' : allowed;
  useMakeCommand(make, unless);
  const suffix = search === '' ? '' : `?${search}`;
  return (
    <>
      <PageHead title="Triggers">
        <span className="faint number">{triggers === undefined ? '' : count(triggers.length)}</span>
        <Space />
        <div className={styles['filter']}>
          <SearchField
            label="Filter triggers"
            placeholder="Filter"
            value={text}
            onChange={(find) =>
              go(find === '' ? path : `${path}?find=${encodeURIComponent(find)}`, { replace: true })
            }
          />
        </div>
        <Button look="first" unless={unless} onPress={make}>
          New trigger
        </Button>
      </PageHead>
      <div className={styles['page']}>
        {hasNone ? (
          <NoTriggers />
        ) : error !== null && triggers === undefined ? (
          <Failure error={error} what="The triggers" onRetry={() => void refetch()} />
        ) : triggers === undefined ? (
          <Reading what="triggers" />
        ) : triggers.length === 0 ? (
          <PlaceHolder title="No triggers yet.">
            <p>A trigger starts work at a time, or when an event is published.</p>
          </PlaceHolder>
        ) : (
          <Lists {...{ triggers, text, acts, unless, suffix }} />
        )}
      </div>
      {trigger === undefined ? null : (
        <TriggerDrawer
          key={trigger}
          {...{ acts, unless }}
          name={trigger}
          onClose={() => go(`/triggers${suffix}`)}
        />
      )}
      {isMaking ? <TriggerDialog acts={acts} onClose={() => setMaking(false)} /> : null}
    </>
  );
}

/** The app is made without triggers: nothing has failed. */
function NoTriggers() {
  return (
    <PlaceHolder title="This app has no triggers.">
      <p>
        A trigger starts work at a time, or when an event is published. Give the app's runtime the
        option `triggers`, then make them here or in the code.
      </p>
    </PlaceHolder>
  );
}

/** Offers a new trigger in the palette, to those who may make one. */
function useMakeCommand(make: () => void, unless: string | undefined): void {
  const commands = useMemo(
    (): readonly Command[] =>
      unless === undefined ? [{ name: 'New trigger', icon: 'triggers', run: make }] : [],
    [unless, make],
  );
  useCommands(commands);
}

const rowHeight = 56;

function heightOf(): number {
  return rowHeight;
}

function keyOf({ name }: ServerTrigger): string {
  return name;
}

interface ListsProps {
  readonly triggers: readonly ServerTrigger[];
  readonly text: string;
  readonly acts: TriggerActs;
  readonly unless: string | undefined;
  /** Query of the address. */
  readonly suffix: string;
}

function Lists({ triggers, text, acts, unless, suffix }: ListsProps) {
  const now = useNow();
  const shown = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return triggers.filter(({ name, start, description = '' }) =>
      `${name}\n${start}\n${description}`.toLowerCase().includes(wanted),
    );
  }, [triggers, text]);
  return (
    <>
      <DayChart triggers={triggers} now={now} />
      <Panel title="All triggers">
        {shown.length === 0 ? (
          <PlaceHolder title={`No trigger matches “${text}”.`} />
        ) : (
          <VirtualRows label="Triggers" items={shown} keyOf={keyOf} heightOf={heightOf}>
            {(trigger, { isCurrent }) => (
              <TriggerRow {...{ trigger, now, acts, unless, suffix, isCurrent }} />
            )}
          </VirtualRows>
        )}
      </Panel>
    </>
  );
}
