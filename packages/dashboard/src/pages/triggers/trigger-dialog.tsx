import type { ServerTrigger } from '@adjutant/server/client';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { useAgents } from '../../api/agents.ts';
import { Field, FormDialog } from '../../components/form-dialog.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { firstLine } from '../../components/visible-text.ts';
import { ScheduleFields } from './schedule-fields.tsx';
import { changeOf, fieldsOfTrigger } from './trigger-change.ts';
import { blankFields, type TriggerFields, triggerOf } from './trigger-form.ts';
import type { TriggerActs } from './use-triggers.ts';

interface TriggerDialogProps {
  /** Trigger that is changed. @default a new one is made */
  readonly trigger?: ServerTrigger;
  readonly acts: TriggerActs;
  readonly onClose: () => void;
}

const kinds = [
  ['cron', 'Cron'],
  ['every', 'Every'],
  ['at', 'Once'],
  ['event', 'On event'],
] as const;

const helpOfNew = 'It starts work by itself, from now on.';
const helpOfChange =
  'What was due before the change is not made up for. What you leave as it is stays.';

/** Makes or changes a trigger by data: on a schedule, or on published events. */
export function TriggerDialog({ trigger, acts, onClose }: TriggerDialogProps) {
  const [, go] = useLocation();
  const agents = useAgents();
  const [problem, setProblem] = useState<string | undefined>();
  const [written, setWritten] = useState<TriggerFields>(() =>
    trigger === undefined
      ? { ...blankFields, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }
      : fieldsOfTrigger(trigger),
  );
  const fields = { ...written, start: written.start || (agents[0]?.name ?? '') };
  const set = (changed: Partial<TriggerFields>): void => {
    setWritten({ ...written, ...changed });
    setProblem(undefined);
  };
  const send = async <Wanted,>(
    wanted: Wanted | string,
    act: (wanted: Wanted) => Promise<boolean>,
  ): Promise<void> => {
    if (typeof wanted === 'string') {
      setProblem(wanted);
      return;
    }
    if (!(await act(wanted))) return;
    onClose();
    go(`${pathOf('triggers', fields.name.trim())}`);
  };
  const save = (): Promise<void> =>
    trigger === undefined
      ? send(triggerOf(fields), acts.create)
      : send(changeOf(trigger, fields), (change) => acts.change(trigger.name, change));
  return (
    <FormDialog
      title={trigger === undefined ? 'New trigger' : `Change “${firstLine(trigger.name, 80)}”`}
      help={trigger === undefined ? helpOfNew : helpOfChange}
      act={trigger === undefined ? 'Make it' : 'Change it'}
      isBusy={acts.isBusy}
      problem={problem}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      {trigger === undefined ? (
        <Field label="Name">
          <input value={fields.name} onChange={(event) => set({ name: event.target.value })} />
        </Field>
      ) : null}
      <Starts value={fields.start} onChange={(start) => set({ start })} />
      <Segmented
        label="Fires"
        value={fields.kind}
        options={kinds}
        onChange={(kind) => set({ kind })}
      />
      <ScheduleFields fields={fields} onChange={set} />
      <Rules fields={fields} onChange={set} />
    </FormDialog>
  );
}

interface StartsProps {
  readonly value: string;
  readonly onChange: (start: string) => void;
}

/** Runnables that can be started, and the chosen one, which the server may not have any more. */
function Starts({ value, onChange }: StartsProps) {
  const agents = useAgents();
  const names = new Set([...agents.map(({ name }) => name), ...(value === '' ? [] : [value])]);
  return (
    <Field label="Starts">
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {[...names].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </Field>
  );
}

interface RulesProps {
  readonly fields: TriggerFields;
  readonly onChange: (changed: Partial<TriggerFields>) => void;
}

function Rules({ fields, onChange }: RulesProps) {
  return (
    <>
      <Field label="Instruction for the started run">
        <textarea
          rows={2}
          value={fields.input}
          onChange={(event) => onChange({ input: event.target.value })}
        />
      </Field>
      <Field label="While the work of an earlier firing goes on">
        <select
          value={fields.overlap}
          onChange={(event) => onChange({ overlap: event.target.value })}
        >
          <option value="">leave the firing out (as usual)</option>
          <option value="queue">let it wait</option>
          <option value="coalesce">let one wait for all</option>
          <option value="cancel_previous">cancel the earlier work</option>
        </select>
      </Field>
      {fields.kind === 'event' ? null : (
        <Field label="Firings that were missed">
          <select
            value={fields.missed}
            onChange={(event) => onChange({ missed: event.target.value })}
          >
            <option value="">are made up for once (as usual)</option>
            <option value="skip">are left out</option>
            <option value="all">are all made up for</option>
          </select>
        </Field>
      )}
    </>
  );
}
