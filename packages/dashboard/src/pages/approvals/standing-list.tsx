import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { unlessAllowed } from '../../api/me.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { fullTime, moment } from '../../components/format.ts';
import { useAct } from '../../components/use-act.ts';
import { firstLine } from '../../components/visible-text.ts';
import styles from './request-detail.module.css';
import { personOf } from './request-words.ts';
import { type Standing, standingWords } from './standing.ts';

interface StandingListProps {
  readonly session: string;
  readonly now: number;
}

/** Approvals that hold for later calls of a session; each can be taken back. */
export function StandingList({ session, now }: StandingListProps) {
  const unless = unlessAllowed(useReader(), 'operate');
  const [withdrawn, setWithdrawn] = useState<Standing | undefined>();
  const { act, isBusy } = useAct();
  const queryKey = ['approvals', 'standing', session];
  const { data = [] } = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.approvals.standing(session, { signal }),
  });
  if (data.length === 0) return null;
  const withdraw = async (id: string): Promise<void> => {
    await act({
      run: () => api.approvals.withdraw(id),
      done: 'Taken back: later calls are asked about.',
      changes: [queryKey],
    });
    setWithdrawn(undefined);
  };
  return (
    <section className={styles['form']} aria-label="Approvals that hold in this session">
      <header>Not asked about in this session</header>
      <ul className={styles['standing']}>
        {data.map((standing) => (
          <li key={standing.id}>
            <bdi>{standingWords(standing)}</bdi>
            <span className="faint" title={fullTime(new Date(standing.at).getTime())}>
              {firstLine(personOf(standing.by), 60)}, {moment(new Date(standing.at).getTime(), now)}
            </span>
            <Button unless={unless} onPress={() => setWithdrawn(standing)}>
              Take back
            </Button>
          </li>
        ))}
      </ul>
      {withdrawn === undefined ? null : (
        <Confirm
          title={`Take back the approval of ${standingWords(withdrawn)}?`}
          act="Take back"
          isBusy={isBusy}
          onClose={() => setWithdrawn(undefined)}
          onConfirm={() => void withdraw(withdrawn.id)}
        >
          <p>Later calls are asked about again. What was done stays done.</p>
        </Confirm>
      )}
    </section>
  );
}
