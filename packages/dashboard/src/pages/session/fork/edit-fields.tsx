import { useAgents } from '../../../api/agents.ts';
import { HiddenCharacters } from '../../../components/schema-form/hidden-characters.tsx';
import { firstLine } from '../../../components/visible-text.ts';
import styles from './fork-dialog.module.css';
import type { Edit, Texts } from './fork-edit.ts';

interface EditFieldsProps {
  readonly edit: Edit;
  readonly texts: Texts;
  /** True when an agent has acted up to the event. */
  readonly hasActed: boolean;
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

/** The fields of the edit with which a fork begins. */
export function EditFields({ edit, texts, hasActed, onText }: EditFieldsProps) {
  return (
    <>
      {edit === 'prompt' ? (
        <AgentField
          value={texts.agent}
          hasActed={hasActed}
          onChange={(name) => onText('agent', name)}
        />
      ) : null}
      {fieldsOfEdit[edit].map(([name, label, rows]) => (
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
      ))}
    </>
  );
}

interface AgentFieldProps {
  readonly value: string;
  readonly hasActed: boolean;
  readonly onChange: (name: string) => void;
}

/** The agent that instructions are for. Before any has acted, it has to be named. */
function AgentField({ value, hasActed, onChange }: AgentFieldProps) {
  const agents = useAgents().filter(({ kind }) => kind === 'agent');
  return (
    <div className={styles['fields']}>
      <label htmlFor="fork-agent">Agent whose instructions change</label>
      <select id="fork-agent" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{hasActed ? 'The one that acted last' : 'Choose…'}</option>
        {agents.map(({ name }) => (
          <option key={name} value={name}>
            {firstLine(name, 80)}
          </option>
        ))}
      </select>
    </div>
  );
}
