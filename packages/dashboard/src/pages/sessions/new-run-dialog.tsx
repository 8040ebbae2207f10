import { useState } from 'react';
import { useLocation } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { useAgents } from '../../api/agents.ts';
import { api } from '../../api/client.ts';
import { Field, FormDialog } from '../../components/form-dialog.tsx';
import { useAct } from '../../components/use-act.ts';

/** Starts a run in a new session, and goes there. */
export function NewRunDialog({ onClose }: { readonly onClose: () => void }) {
  const [, go] = useLocation();
  const agents = useAgents();
  const { act, isBusy } = useAct();
  const [chosen, setChosen] = useState<string | undefined>();
  const [input, setInput] = useState('');
  const agent = chosen ?? agents[0]?.name;
  const start = async (): Promise<void> => {
    if (agent === undefined) return;
    await act({
      run: async () => {
        const message = input.trim() === '' ? {} : { input };
        const { session } = await api.runs.start({ agent, ...message }).accepted();
        onClose();
        go(pathOf('sessions', session));
      },
      changes: [['sessions']],
    });
  };
  return (
    <FormDialog
      title="Start a run"
      help="It begins at once, in a session of its own."
      act="Start"
      isBusy={isBusy}
      problem={agents.length === 0 ? 'The app has no agents that you may start.' : undefined}
      onSubmit={() => void start()}
      onClose={onClose}
    >
      <Field label="Agent">
        <select value={agent} onChange={(event) => setChosen(event.target.value)}>
          {agents.map(({ name, kind }) => (
            <option key={name} value={name}>
              {kind === 'agent' ? name : `${name} (${kind})`}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Message that it begins with">
        <textarea rows={4} value={input} onChange={(event) => setInput(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
