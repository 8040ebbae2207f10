import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Failure, Reading } from '../../components/states.tsx';
import { firstLine } from '../../components/visible-text.ts';
import styles from './session-picker.module.css';

/** Chooses the two sessions of a comparison. */
export function SessionPicker({ a, b }: { readonly a: string; readonly b: string }) {
  const [, go] = useLocation();
  const [chosen, setChosen] = useState({ a, b });
  const { data, error } = useQuery({
    queryKey: ['sessions', 'picker'],
    queryFn: async ({ signal }) =>
      (await api.sessions.list({ limit: 200 }, { signal }).page()).sessions,
  });
  const isWhole = chosen.a !== '' && chosen.b !== '' && chosen.a !== chosen.b;
  const address = `/compare?a=${encodeURIComponent(chosen.a)}&b=${encodeURIComponent(chosen.b)}`;
  return (
    <>
      <PageHead title="Compare" />
      {data === undefined ? (
        error === null ? (
          <Reading what="the sessions" />
        ) : (
          <Failure error={error} what="The sessions" />
        )
      ) : (
        <div className={styles['picker']}>
          {(['a', 'b'] as const).map((side) => (
            <label key={side}>
              <span>Session {side.toUpperCase()}</span>
              <select
                value={chosen[side]}
                onChange={(event) => setChosen({ ...chosen, [side]: event.target.value })}
              >
                <option value="">Choose one</option>
                {data.map(({ id, title }) => (
                  <option key={id} value={id}>
                    {firstLine(title ?? id, 60)} · {firstLine(id, 40)}
                  </option>
                ))}
              </select>
            </label>
          ))}
          <Button
            look="first"
            icon="compare"
            unless={isWhole ? undefined : 'Choose two different sessions.'}
            onPress={() => go(address)}
          >
            Compare
          </Button>
        </div>
      )}
    </>
  );
}
