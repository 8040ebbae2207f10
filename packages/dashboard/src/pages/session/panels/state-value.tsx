import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { bytes } from '../../../components/format.ts';
import { inline, visible, visibleJson } from '../../../components/visible-text.ts';
import { fieldsOf } from '../../../ledger/event-words.ts';
import styles from './state-list.module.css';

/** Characters of a value that stand in its row, and in the field that shows it whole. */
const longestRow = 120;
const longestShown = 200_000;

/** Place of a value in the state. */
export interface ValuePlace {
  readonly session: string;
  readonly at: number;
  readonly scope: string;
  readonly key: string;
}

interface StateValueProps {
  readonly value: unknown;
  readonly place: ValuePlace;
}

/** A value of the state: a long one is cut, says how large it is, and is opened by a press. */
export function StateValue({ value, place }: StateValueProps) {
  const [isOpen, setOpen] = useState(false);
  const size = longSize(value);
  if (size === undefined) return <bdi>{clipped(value)}</bdi>;
  return (
    <div className={styles['value']}>
      {isOpen ? <Whole value={value} place={place} /> : <bdi>{clipped(value)}</bdi>}
      <button
        type="button"
        className={styles['more']}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Show less' : `Show all, ${bytes(size)}`}
      </button>
    </div>
  );
}

function Whole({ value, place }: StateValueProps) {
  const { session, at, scope, key } = place;
  const isReference = fieldsOf(value)['$blob'] !== undefined;
  const { data: whole, error } = useQuery({
    queryKey: ['state-value', session, at, scope, key],
    queryFn: async ({ signal }) => {
      const { state } = await api.sessions.moment(session, { at, values: 'full', signal });
      return fieldsOf((state as Readonly<Record<string, unknown>>)[`${scope}State`])[key];
    },
    enabled: isReference,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (isReference && whole === undefined)
    return <span className="faint">{error === null ? 'Reading …' : visible(error.message)}</span>;
  const all = isReference ? whole : value;
  const text = typeof all === 'string' ? visible(all) : visibleJson(all);
  return (
    <pre
      className={styles['whole']}
      tabIndex={0}
      role="group"
      aria-label={`Value of ${inline(key, 80)}`}
    >
      {text.slice(0, longestShown)}
      {text.length > longestShown ? `… ${bytes(text.length - longestShown)} more: copy it.` : ''}
    </pre>
  );
}

/** Returns a value as text for its row. */
export function clipped(value: unknown): string {
  const { $blob, preview } = fieldsOf(value);
  return inline($blob === undefined ? value : preview, longestRow);
}

/** Size of a value that does not stand whole in its row. */
function longSize(value: unknown): number | undefined {
  const { $blob, size } = fieldsOf(value);
  if ($blob !== undefined) return Number(size);
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > longestRow || /[\r\n]/.test(text)
    ? new TextEncoder().encode(text).length
    : undefined;
}
