import type { NewTask, ServerTaskPriority } from '@adjutant/server/client';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { useAgents } from '../../api/agents.ts';
import { api } from '../../api/client.ts';
import { Field, FormDialog } from '../../components/form-dialog.tsx';
import { useAct } from '../../components/use-act.ts';
import { levels } from './task-queue.ts';

const empty = { agent: '', input: '', name: '', priority: '', notBefore: '' };

/** Submits a task: a run that waits for its turn. */
export function NewTaskDialog({ onClose }: { readonly onClose: () => void }) {
  const [, go] = useLocation();
  const agents = useAgents();
  const { act, isBusy } = useAct();
  const [fields, setFields] = useState(empty);
  const set = (name: keyof typeof empty) => (event: { target: { value: string } }) =>
    setFields({ ...fields, [name]: event.target.value });
  const agent = fields.agent === '' ? agents[0]?.name : fields.agent;
  const submit = (): void => {
    if (agent === undefined) return;
    void act({
      run: async () => {
        const { id } = await api.tasks.submit(taskOf(agent, fields));
        onClose();
        go(pathOf('tasks', id));
      },
      changes: [['tasks'], ['sessions']],
    });
  };
  return (
    <FormDialog
      title="New task"
      help="It is stored at once, and begins when its turn comes."
      act="Submit"
      isBusy={isBusy}
      problem={agents.length === 0 ? 'The app has no agents that you may start.' : undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label="Agent">
        <select value={agent} onChange={set('agent')}>
          {agents.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
      <Field label="Message that it begins with">
        <textarea rows={3} value={fields.input} onChange={set('input')} />
      </Field>
      <Field label="Name, for people">
        <input value={fields.name} placeholder={agent} onChange={set('name')} />
      </Field>
      <Field label="Priority">
        <select value={fields.priority} onChange={set('priority')}>
          <option value="">As usual</option>
          {levels.map(({ priority, name, note }) => (
            <option key={priority} value={priority}>
              {name}: {note}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Not before" help="Empty: as soon as its turn comes.">
        <input type="datetime-local" value={fields.notBefore} onChange={set('notBefore')} />
      </Field>
    </FormDialog>
  );
}

function taskOf(agent: string, { input, name, priority, notBefore }: typeof empty): NewTask {
  return {
    agent,
    ...(input.trim() === '' ? {} : { input }),
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    ...(priority === '' ? {} : { priority: priority as ServerTaskPriority }),
    ...(notBefore === '' ? {} : { notBefore: new Date(notBefore).getTime() }),
  };
}
