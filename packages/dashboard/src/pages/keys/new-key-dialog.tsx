import type { IssuedServerKey } from '@adjutant/server/client';
import { useState } from 'react';
import { useAgents } from '../../api/agents.ts';
import { api } from '../../api/client.ts';
import { Field, FormDialog } from '../../components/form-dialog.tsx';
import { useAct } from '../../components/use-act.ts';
import { firstLine } from '../../components/visible-text.ts';
import { problemOf, type Role, roleWords, terms, usualTerm } from './key-words.ts';
import styles from './keys-page.module.css';

interface NewKeyDialogProps {
  readonly onMade: (issued: IssuedServerKey) => void;
  readonly onClose: () => void;
}

/** Makes a key: for what it is, what it may do, to what it is bound, and for how long. */
export function NewKeyDialog({ onMade, onClose }: NewKeyDialogProps) {
  const { act, isBusy } = useAct();
  const [name, setName] = useState('');
  const [user, setUser] = useState('');
  const [term, setTerm] = useState(usualTerm);
  const [roles, setRoles] = useState<readonly Role[]>(['viewer']);
  const [agents, setAgents] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<string | undefined>();
  const make = async (): Promise<void> => {
    const found = problemOf({ name, user, roles });
    setProblem(found);
    if (found !== undefined) return;
    await act({
      run: async () => {
        const issued = await api.keys.create({
          name: name.trim(),
          roles: [...roles],
          expiresInMs: Number(term),
          ...(user.trim() === '' ? {} : { user: user.trim() }),
          ...(agents.length === 0 ? {} : { agents: [...agents] }),
        });
        onMade(issued);
      },
      changes: [['keys']],
    });
  };
  return (
    <FormDialog
      title="New key"
      help="Its secret is shown once, when it is made."
      act="Make the key"
      {...{ isBusy, problem, onClose }}
      onSubmit={() => void make()}
    >
      <Field label="Name">
        <input value={name} maxLength={200} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Choices
        label="Roles"
        options={roleWords}
        chosen={roles}
        onChange={(chosen) => setRoles(chosen as readonly Role[])}
      />
      <Field label="User" help="Only sessions of this user exist for the key. Empty: of everybody.">
        <input value={user} maxLength={200} onChange={(event) => setUser(event.target.value)} />
      </Field>
      <AgentChoices chosen={agents} onChange={setAgents} />
      <Field label="Accepted for">
        <select value={term} onChange={(event) => setTerm(event.target.value)}>
          {terms.map(([ms, words]) => (
            <option key={ms} value={ms}>
              {words}
            </option>
          ))}
        </select>
      </Field>
    </FormDialog>
  );
}

interface AgentChoicesProps {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

function AgentChoices({ chosen, onChange }: AgentChoicesProps) {
  const agents = useAgents();
  if (agents.length === 0) return null;
  return (
    <Choices
      label="Agents"
      help="Only these exist for the key. None chosen: all."
      options={agents.map(({ name }) => [name, ''] as const)}
      {...{ chosen, onChange }}
    />
  );
}

interface ChoicesProps {
  readonly label: string;
  readonly help?: string;
  readonly options: readonly (readonly [string, string])[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Any of a few. */
function Choices({ label, help, options, chosen, onChange }: ChoicesProps) {
  return (
    <fieldset className={styles['choices']}>
      <legend>{label}</legend>
      {options.map(([name, words]) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
            }
          />
          <span>
            <bdi>{firstLine(name, 80)}</bdi>
            {words === '' ? null : <small> {words}</small>}
          </span>
        </label>
      ))}
      {help === undefined ? null : <small>{help}</small>}
    </fieldset>
  );
}
