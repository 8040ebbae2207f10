import type { ServerRequest } from '@adjutant/server/client';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { plural } from '../../components/format.ts';
import { Space } from '../../components/page-head.tsx';
import { useToast } from '../../components/toasts.tsx';
import { useAct } from '../../components/use-act.ts';
import { firstLine } from '../../components/visible-text.ts';
import styles from './approvals-page.module.css';
import { batchOutcome, decisionWords, unlessAll, unlessAnswerable } from './request-words.ts';
import { SessionName } from './session-name.tsx';

interface BatchProps {
  readonly several: readonly ServerRequest[];
  readonly now: number;
  readonly onDone: () => void;
}

interface Asked {
  readonly decision: 'approve' | 'reject';
  /** Requests as they were when it was asked: none takes the place of another one. */
  readonly requests: readonly ServerRequest[];
}

/** Answers that the server takes at once. */
const mostAtOnce = 100;

/** One decision for all that were chosen. Each is answered by itself: some may be refused. */
export function Batch({ several, now, onDone }: BatchProps) {
  const me = useReader();
  const [asked, setAsked] = useState<Asked | undefined>();
  const locked = several.map((request) => unlessAnswerable(me, request, now)).find(Boolean);
  const many = several.length > mostAtOnce ? `At most ${mostAtOnce} at once.` : undefined;
  const button = (decision: Asked['decision'], look: 'first' | 'bad') => (
    <Button
      look={look}
      unless={locked ?? many ?? unlessAll(several, decision)}
      onPress={() => setAsked({ decision, requests: several })}
    >
      {decisionWords[decision][0]} {several.length}
    </Button>
  );
  return (
    <div className={styles['batch']} role="region" aria-label="Answer the chosen ones">
      <b>{several.length} chosen</b>
      <Space />
      {button('reject', 'bad')}
      {button('approve', 'first')}
      {asked === undefined ? null : (
        <AskFirst asked={asked} onDone={onDone} onClose={() => setAsked(undefined)} />
      )}
    </div>
  );
}

interface AskFirstProps {
  readonly asked: Asked;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Shows all that one decision is for, before it is made. */
function AskFirst({ asked: { decision, requests }, onDone, onClose }: AskFirstProps) {
  const show = useToast();
  const { act, isBusy } = useAct();
  const [verb] = decisionWords[decision];
  const decide = async (): Promise<void> => {
    const answers = requests.map(({ requestId }) => ({ requestId, decision }));
    const isSent = await act({
      run: async () => show(batchOutcome(decision, await api.approvals.answerAll(answers))),
      changes: [['approvals'], ['sessions']],
    });
    onClose();
    if (isSent) onDone();
  };
  return (
    <Confirm
      title={`${verb} ${plural(requests.length, 'request')}?`}
      act={`${verb} ${requests.length}`}
      look={decision === 'approve' ? 'first' : 'bad'}
      isBusy={isBusy}
      onClose={onClose}
      onConfirm={() => void decide()}
    >
      <ul className={styles['asked']}>
        {requests.map(({ requestId, summary, session }) => (
          <li key={requestId}>
            <b>
              <bdi>{firstLine(summary, 300)}</bdi>
            </b>
            <SessionName session={session} />
          </li>
        ))}
      </ul>
    </Confirm>
  );
}
