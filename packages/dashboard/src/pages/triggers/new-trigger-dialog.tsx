import { useState } from 'react';
import { useLocation } from 'wouter';
import { useAgents } from '../../api/agents.ts';
import { Field, FormDialog } from '../../components/form-dialog.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { ScheduleFields } from './schedule-fields.tsx';
import { blankFields, type TriggerFields, triggerOf } from './trigger-form.ts';
import type { TriggerActs } from './use-triggers.ts';

interface NewTriggerDialogProps {
  readonly acts: TriggerActs;
  readonly onClose: () => void;
}

const kinds = [
  ['cron', 'Cron'],
  ['every', 'Every'],
  ['at', 'Once'],
  ['event', 'On event'],
] as const;

/** Makes a trigger by data: on a schedule, or on published events. */
export function NewTriggerDialog({ acts, onClose }: NewTriggerDialogProps) {
  const [, go] = useLocation();
  const agents = useAgents();
  const [problem, setProblem] = useState<string | undefined>();
  const [written, setWritten] = useState<TriggerFields>(() => ({
    ...blankFields,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }));
  const fields = { ...written, start: written.start || (agents[0]?.name ?? '') };
  const set = (changed: Partial<TriggerFields>): void => {
    setWritten({ ...written, ...changed });
    setProblem(undefined);
  };
  const make = async (): Promise<void> => {
    const trigger = triggerOf(fields);
    if (typeof trigger === 'string') {
      setProblem(trigger);
      return;
    }
    if (!(await acts.create(trigger))) return;
    onClose();
    go(`/triggers/${encodeURIComponent(trigger.name)}`);
  };
  return (
    <FormDialog
      title="New trigger"
      help="It starts work by itself, from now on."
      act="Make it"
      isBusy={acts.isBusy}
      problem={problem}
      onSubmit={() => void make()}
      onClose={onClose}
    >
      <Field label="Name">
        <input value={fields.name} onChange={(event) => set({ name: event.target.value })} />
      </Field>
      <Field label="Starts">
        <select value={fields.start} onChange={(event) => set({ start: event.target.value })}>
          {agents.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
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
