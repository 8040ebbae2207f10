import { useEffect, useRef } from 'react';
import { Button } from '../../../components/button.tsx';
import { chooseCreatures, useChosenCreatures } from '../../../creatures/chosen-creatures.ts';
import { Creature } from '../../../creatures/creature.tsx';
import { creatureFor, withChoice } from '../../../creatures/creature-map.ts';
import { creatures, isCreatureName, zones } from '../../../creatures/registry.ts';
import styles from './creature-dialog.module.css';

interface CreatureDialogProps {
  readonly agents: readonly string[];
  readonly onClose: () => void;
}

/** Lets the reader choose creatures for agents and components. This browser keeps the choices. */
export function CreatureDialog({ agents, onClose }: CreatureDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const chosen = useChosenCreatures();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const components = creatures.filter(({ zone }) => zone !== 'acting');
  const isChanged = Object.keys(chosen).length > 0;
  return (
    <dialog
      ref={dialog}
      className={styles['dialog']}
      aria-label="Which creature stands for what"
      onClose={onClose}
    >
      <header className={styles['head']}>
        <h2>Which creature stands for what</h2>
        <Button look="bare" icon="close" label="Close (Esc)" onPress={onClose} />
      </header>
      <p className={styles['help']}>Only this browser keeps the choice. Nobody else sees it.</p>
      <div className={styles['lists']}>
        <h3>Agents</h3>
        {agents.length === 0 ? <p className="faint">This app has no agents yet.</p> : null}
        {agents.map((name) => (
          <Choice key={name} subject={name} label={name} />
        ))}
        <h3>Components</h3>
        {components.map(({ process, label }) => (
          <Choice key={process} subject={process} label={label} />
        ))}
      </div>
      <footer className={styles['foot']}>
        <Button
          look="bad"
          {...(isChanged ? {} : { unless: 'Nothing was chosen.' })}
          onPress={() => chooseCreatures({})}
        >
          Reset all
        </Button>
        <Button onPress={onClose}>Close</Button>
      </footer>
    </dialog>
  );
}

interface ChoiceProps {
  readonly subject: string;
  readonly label: string;
}

function Choice({ subject, label }: ChoiceProps) {
  const chosen = useChosenCreatures();
  const usual = creatureFor(subject);
  const isChosen = Object.hasOwn(chosen, subject);
  return (
    <label className={styles['choice']}>
      <Creature name={subject} size={28} />
      <span className="cut">{label}</span>
      <select
        aria-label={`Creature of ${label}`}
        value={isChosen ? creatureFor(subject, chosen) : ''}
        onChange={({ target: { value } }) =>
          chooseCreatures(withChoice(chosen, subject, isCreatureName(value) ? value : undefined))
        }
      >
        <option value="">{usual} (usual)</option>
        {zones.map((zone) => (
          <optgroup key={zone} label={zone}>
            {creatures
              .filter((one) => one.zone === zone)
              .map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}
