import type { Moment } from '@adjutant/server/client';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { useAct } from '../../../components/use-act.ts';
import { visible, visibleJson } from '../../../components/visible-text.ts';
import { fieldsOf } from '../../../ledger/event-words.ts';
import { EditFields } from './edit-fields.tsx';
import styles from './fork-dialog.module.css';
import { type Edit, editOf, type Texts } from './fork-edit.ts';

interface ForkDialogProps {
  readonly session: string;
  readonly seq: number;
  readonly moment: Moment | undefined;
  /** True when an agent has acted up to the event. */
  readonly hasActed: boolean;
  readonly onClose: () => void;
}

const choices = [
  ['none', 'As it is', 'The same prompt, answered again'],
  ['prompt', 'Edit the prompt', 'Instructions or a message for the next call'],
  ['state', 'Edit the state', 'The change becomes the first event of the fork'],
] as const;

/** Makes a session that shares the ledger up to here, and goes its own way. */
export function ForkDialog({ session, seq, moment, hasActed, onClose }: ForkDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [, go] = useLocation();
  const { act, isBusy } = useAct();
  const [edit, setEdit] = useState<Edit>('none');
  const [texts, setTexts] = useState<Texts>(() => ({
    agent: '',
    instructions: '',
    message: '',
    state: visibleJson(stateOf(moment)),
  }));
  const [problem, setProblem] = useState<string | undefined>();
  useEffect(() => dialog.current?.showModal(), []);
  const fork = async (): Promise<void> => {
    const wanted = editOf({ edit, ...texts, hasActed, before: stateOf(moment) });
    if (typeof wanted === 'string') {
      setProblem(wanted);
      return;
    }
    setProblem(undefined);
    await act({
      run: async () => {
        // A message outside of an open dialog lies under it.
        const made = await api.sessions
          .fork(session, { at: seq, ...wanted })
          .catch((error: unknown) => setProblem(visible((error as Error).message)));
        if (made === undefined) return;
        dialog.current?.close();
        go(`/compare?a=${encodeURIComponent(session)}&b=${encodeURIComponent(made.id)}&at=${seq}`);
      },
      changes: [['sessions']],
    });
  };
  return (
    <dialog
      ref={dialog}
      className={styles['dialog']}
      aria-labelledby="fork-title"
      onClose={onClose}
    >
      <h2 id="fork-title">Fork from #{seq}</h2>
      <p className="soft">
        A new session that shares {seq === 1 ? 'event 1' : `events 1 to ${seq}`} and goes its own
        way. This one is not touched.
      </p>
      <Choices edit={edit} onEdit={setEdit} />
      <EditFields
        {...{ edit, texts, hasActed }}
        onText={(name, text) => setTexts({ ...texts, [name]: text })}
      />
      <Foot
        {...{ problem, isBusy }}
        onCancel={() => dialog.current?.close()}
        onFork={() => void fork()}
      />
    </dialog>
  );
}

interface FootProps {
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  readonly onCancel: () => void;
  readonly onFork: () => void;
}

function Foot({ problem, isBusy, onCancel, onFork }: FootProps) {
  return (
    <>
      {problem === undefined ? null : (
        <p className={styles['problem']} role="alert">
          {problem}
        </p>
      )}
      <footer>
        <span className="faint">Shared scopes are copied; what was done stays done.</span>
        <Button onPress={onCancel}>Cancel</Button>
        <Button look="first" icon="fork" isBusy={isBusy} onPress={onFork}>
          Fork and compare
        </Button>
      </footer>
    </>
  );
}

interface ChoicesProps {
  readonly edit: Edit;
  readonly onEdit: (edit: Edit) => void;
}

function Choices({ edit, onEdit }: ChoicesProps) {
  return (
    <fieldset>
      <legend className="only-read">What changes</legend>
      {choices.map(([name, words, help]) => (
        <label key={name} className={styles['choice']}>
          <input type="radio" name="edit" checked={edit === name} onChange={() => onEdit(name)} />
          <span>
            <b>{words}</b>
            <small>{help}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function stateOf(moment: Moment | undefined): Readonly<Record<string, unknown>> {
  return fieldsOf(moment?.state['sessionState']);
}
