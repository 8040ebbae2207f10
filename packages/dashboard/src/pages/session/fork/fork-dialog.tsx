import type { Moment, NewFork } from '@adjutant/server/client';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { HiddenCharacters } from '../../../components/schema-form/hidden-characters.tsx';
import { useAct } from '../../../components/use-act.ts';
import { visibleJson } from '../../../components/visible-text.ts';
import { fieldsOf } from '../../../ledger/event-words.ts';
import styles from './fork-dialog.module.css';

type Edit = 'none' | 'prompt' | 'state';

interface Texts {
  readonly instructions: string;
  readonly message: string;
  readonly state: string;
}

interface ForkDialogProps {
  readonly session: string;
  readonly seq: number;
  readonly moment: Moment | undefined;
  readonly onClose: () => void;
}

const choices = [
  ['none', 'As it is', 'The same prompt, answered again'],
  ['prompt', 'Edit the prompt', 'Instructions or a message for the next call'],
  ['state', 'Edit the state', 'The change becomes the first event of the fork'],
] as const;

/** Makes a session that shares the ledger up to here, and goes its own way. */
export function ForkDialog({ session, seq, moment, onClose }: ForkDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [, go] = useLocation();
  const { act, isBusy } = useAct();
  const [edit, setEdit] = useState<Edit>('none');
  const [texts, setTexts] = useState<Texts>(() => ({
    instructions: '',
    message: '',
    state: visibleJson(stateOf(moment)),
  }));
  const [problem, setProblem] = useState<string | undefined>();
  useEffect(() => dialog.current?.showModal(), []);
  const fork = async (): Promise<void> => {
    const wanted = editOf({ edit, ...texts, before: stateOf(moment) });
    if (typeof wanted === 'string') {
      setProblem(wanted);
      return;
    }
    await act({
      run: async () => {
        const made = await api.sessions.fork(session, { at: seq, ...wanted });
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
        A new session that shares events 1 to {seq} and goes its own way. This one is not touched.
      </p>
      <Choices edit={edit} onEdit={setEdit} />
      <EditFields
        edit={edit}
        texts={texts}
        onText={(name, text) => setTexts({ ...texts, [name]: text })}
      />
      {problem === undefined ? null : (
        <p className={styles['problem']} role="alert">
          {problem}
        </p>
      )}
      <footer>
        <span className="faint">Shared scopes are copied; what was done stays done.</span>
        <Button onPress={() => dialog.current?.close()}>Cancel</Button>
        <Button look="first" icon="fork" isBusy={isBusy} onPress={() => void fork()}>
          Fork and compare
        </Button>
      </footer>
    </dialog>
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

interface EditFieldsProps {
  readonly edit: Edit;
  readonly texts: Texts;
  readonly onText: (name: keyof Texts, text: string) => void;
}

/** Fields of each edit: name, label and rows. */
const fieldsOfEdit: Readonly<Record<Edit, readonly (readonly [keyof Texts, string, number])[]>> = {
  none: [],
  prompt: [
    ['instructions', 'Instructions in the place of the agent’s own', 4],
    ['message', 'Message in the place of the last one', 3],
  ],
  state: [['state', 'State of the session at this event, as JSON', 10]],
};

function EditFields({ edit, texts, onText }: EditFieldsProps) {
  return fieldsOfEdit[edit].map(([name, label, rows]) => (
    <div key={name} className={styles['fields']}>
      <label htmlFor={`fork-${name}`}>{label}</label>
      <textarea
        id={`fork-${name}`}
        rows={rows}
        spellCheck={name !== 'state'}
        {...(name === 'state' ? { className: 'mono' } : {})}
        value={texts[name]}
        aria-describedby={`fork-${name}-hidden`}
        onChange={(event) => onText(name, event.target.value)}
      />
      <HiddenCharacters id={`fork-${name}-hidden`} text={texts[name]} />
    </div>
  ));
}

function stateOf(moment: Moment | undefined): Readonly<Record<string, unknown>> {
  return fieldsOf(moment?.state['sessionState']);
}

interface Wanted extends Texts {
  readonly edit: Edit;
  readonly before: Readonly<Record<string, unknown>>;
}

/** Returns the edit of a fork, or what is wrong with it. */
function editOf({
  edit,
  instructions,
  message,
  state,
  before,
}: Wanted): Pick<NewFork, 'edit'> | string {
  if (edit === 'none') return {};
  if (edit === 'prompt') {
    const prompt = {
      ...(instructions.trim() === '' ? {} : { instructions }),
      ...(message.trim() === '' ? {} : { message }),
    };
    return Object.keys(prompt).length === 0
      ? 'Write instructions or a message, or fork as it is.'
      : { edit: { prompt } };
  }
  let after: Readonly<Record<string, unknown>>;
  try {
    after = JSON.parse(state) as Readonly<Record<string, unknown>>;
  } catch (error) {
    return `This is no JSON: ${(error as Error).message}`;
  }
  if (typeof after !== 'object' || after === null || Array.isArray(after))
    return 'The state is an object: {"key": value}.';
  const changes = [
    ...Object.entries(after)
      .filter(([key, value]) => JSON.stringify(before[key]) !== JSON.stringify(value))
      .map(([key, value]) => ({ key, value })),
    ...Object.keys(before)
      .filter((key) => !Object.hasOwn(after, key))
      .map((key) => ({ key, delete: true as const })),
  ];
  return changes.length === 0
    ? 'Nothing is changed. Change a value, or fork as it is.'
    : { edit: { state: changes as never } };
}
