import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { moment } from '../../components/format.ts';
import { PageHead } from '../../components/page-head.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { firstLine } from '../../components/visible-text.ts';
import styles from '../compare/session-picker.module.css';
import { variantText } from './eval-words.ts';

const mostReports = 200;

/** Chooses both sides of a comparison: a variant of a report each. */
export function ReportPicker({ a }: { readonly a: string }) {
  const { data, error } = useQuery({
    queryKey: ['evals', 'picker'],
    queryFn: ({ signal }) => api.evals.list({ limit: mostReports }, { signal }).page(),
  });
  if (data === undefined)
    return (
      <>
        <PageHead title="Compare evals" />
        {error === null ? (
          <Reading what="the reports" />
        ) : (
          <Failure error={error} what="The reports" />
        )}
      </>
    );
  const now = Date.now();
  const sides = data.reports.flatMap(({ id, report }) =>
    (report?.variants ?? []).map((variant) => ({
      value: JSON.stringify([id, variant.name]),
      words:
        `${firstLine(report?.name ?? '', 40)} · ${firstLine(variantText(variant), 60)} · ` +
        moment(report?.startedAt ?? 0, now),
      id,
    })),
  );
  const first = sides.find(({ id }) => id === a)?.value ?? '';
  return (
    <>
      <PageHead title="Compare evals" />
      {sides.length < 2 ? (
        <PlaceHolder title="There are no two variants to compare.">
          <p>Run the eval again, with another variant or after a change.</p>
        </PlaceHolder>
      ) : (
        <SidesForm sides={sides} first={first} />
      )}
    </>
  );
}

interface SidesFormProps {
  readonly sides: readonly { readonly value: string; readonly words: string }[];
  /** Value of A at first; empty for none. */
  readonly first: string;
}

function SidesForm({ sides, first }: SidesFormProps) {
  const [, go] = useLocation();
  const [chosen, setChosen] = useState<{ readonly a?: string; readonly b?: string }>({});
  const both = { a: chosen.a ?? first, b: chosen.b ?? '' };
  const isWhole = both.a !== '' && both.b !== '' && both.a !== both.b;
  return (
    <div className={styles['picker']}>
      {(['a', 'b'] as const).map((side) => (
        <label key={side}>
          <span>{side === 'a' ? 'A, the baseline' : 'B, the candidate'}</span>
          <select
            value={both[side]}
            onChange={(event) => setChosen({ ...both, [side]: event.target.value })}
          >
            <option value="">Choose one</option>
            {sides.map(({ value, words }) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
      ))}
      <Button
        look="first"
        icon="compare"
        unless={isWhole ? undefined : 'Choose two different ones.'}
        onPress={() => go(addressOf(both.a, both.b))}
      >
        Compare
      </Button>
    </div>
  );
}

function addressOf(one: string, other: string): string {
  const [a, va] = JSON.parse(one) as readonly [string, string];
  const [b, vb] = JSON.parse(other) as readonly [string, string];
  return `/evals/compare?${new URLSearchParams({ a, b, va, vb })}`;
}
