import type { Moment } from '@adjutant/server/client';
import { useMemo } from 'react';
import { CopyMenu } from '../../../components/copy/copy-menu.tsx';
import { KindGlyph } from '../../../components/kind-glyph.tsx';
import { inline } from '../../../components/visible-text.ts';
import { fieldsOf } from '../../../ledger/event-words.ts';
import type { Position } from '../position.ts';
import { copiedState } from './copied.ts';
import styles from './state-list.module.css';
import { clipped, StateValue, type ValuePlace } from './state-value.tsx';

/** Value of the state, and what the chosen event did to it. */
interface StateRow {
  readonly key: string;
  readonly value: unknown;
  readonly isChanged: boolean;
  readonly isDeleted: boolean;
  readonly before?: unknown;
}

interface Scope {
  readonly name: string;
  readonly rows: readonly StateRow[];
}

interface StateListProps {
  readonly session: string;
  readonly moment: Moment;
  readonly position: Position;
}

/** The state of all scopes, with what the chosen event changed: the old value beside the new one. */
export function StateList({ session, moment, position }: StateListProps) {
  const scopes = useMemo(() => scopesOf(moment), [moment]);
  const keys = scopes.reduce((sum, { rows }) => sum + rows.length, 0);
  const changed = scopes.reduce(
    (sum, { rows }) => sum + rows.filter(({ isChanged }) => isChanged).length,
    0,
  );
  return (
    <section className={styles['state']} aria-label="State">
      <h3>
        State <span className="faint">{keys === 1 ? '1 key' : `${keys} keys`}</span>
        {changed === 0 ? null : (
          <span className={styles['changed']}>
            <KindGlyph kind="state" />
            {changed} changed at #{position.seq}
          </span>
        )}
        <span className={styles['copy']}>
          <CopyMenu what="the state" isSmall copied={() => copiedState(session, moment)} />
        </span>
      </h3>
      {keys === 0 ? (
        <p className={styles['none']}>Nothing was written before this event.</p>
      ) : (
        scopes.map(({ name, rows }) => (
          <div key={name}>
            <p className={styles['scope']}>{name}</p>
            <dl>
              {rows.map((row) => (
                <Row key={row.key} row={row} place={{ session, at: moment.at, scope: name }} />
              ))}
            </dl>
          </div>
        ))
      )}
    </section>
  );
}

interface RowProps {
  readonly row: StateRow;
  readonly place: Omit<ValuePlace, 'key'>;
}

function Row({ row, place }: RowProps) {
  const { key, value, before, isChanged, isDeleted } = row;
  return (
    <div className={styles['row']} data-changed={isChanged || undefined}>
      <dt>
        <bdi>{inline(key, 120)}</bdi>
      </dt>
      <dd>
        {isChanged && before !== undefined ? (
          <del>
            <bdi>{clipped(before)}</bdi>
          </del>
        ) : null}
        {isDeleted ? (
          <span title="deleted">∅ deleted</span>
        ) : (
          <StateValue value={value} place={{ ...place, key }} />
        )}
      </dd>
    </div>
  );
}

function scopesOf({ state, changes }: Moment): readonly Scope[] {
  const values: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const [name, value] of Object.entries(state)) {
    const scope = /^(.+)State$/.exec(name)?.[1];
    if (scope !== undefined) values[scope] = fieldsOf(value);
  }
  for (const { scope } of changes) values[scope] ??= {};
  return Object.entries(values).map(([name, held]) => ({
    name,
    rows: rowsOf(name, held, changes),
  }));
}

function rowsOf(
  scope: string,
  held: Readonly<Record<string, unknown>>,
  changes: Moment['changes'],
): readonly StateRow[] {
  const own = new Map(
    changes.filter((change) => change.scope === scope).map((change) => [change.key, change]),
  );
  const keys = [...new Set([...Object.keys(held), ...own.keys()])].sort();
  return keys.map((key) => {
    const change = own.get(key);
    return {
      key,
      value: held[key],
      isChanged: change !== undefined,
      isDeleted: !Object.hasOwn(held, key),
      before: change?.before,
    };
  });
}
