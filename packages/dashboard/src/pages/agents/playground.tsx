import type { ServerAgent } from '@adjutant/server/client';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { unlessAllowed } from '../../api/me.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { plural } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { jsonOf, textOf } from '../../components/schema-form/drafts.ts';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import { blankOf, type Draft, problemsOf } from '../../components/schema-form/shapes.ts';
import { SelectField } from '../../components/select-field.tsx';
import { useAct } from '../../components/use-act.ts';
import styles from './agents-page.module.css';
import type { Trial } from './trial.ts';
import { TrialColumn } from './trial-column.tsx';

const mostRuns = 10;
const counts = Array.from(
  { length: mostRuns },
  (_, i) => [String(i + 1), plural(i + 1, 'run')] as const,
);

/** Runs a prompt, as often as wanted, and again with edits: the answers stand side by side. */
export function Playground({ agent }: { readonly agent: ServerAgent }) {
  const [message, setMessage] = useState('');
  const { trials, start, clear, isBusy } = useTrials(agent.name);
  return (
    <Panel
      title="Try it"
      note="each run in a session of its own"
      acts={
        trials.length === 0 ? undefined : (
          <Button look="bare" icon="close" onPress={clear}>
            Clear the answers
          </Button>
        )
      }
    >
      <PromptForm
        schema={agent.inputSchema}
        message={message}
        isBusy={isBusy}
        onMessage={setMessage}
        onRun={(data, times) => start({ message, data, times })}
      />
      {trials.length === 0 ? null : (
        <div className={styles['columns']} role="group" aria-label="Answers">
          {trials.map((trial) => (
            <TrialColumn
              key={trial.session}
              trial={trial}
              onEdit={() => setMessage(trial.message)}
            />
          ))}
        </div>
      )}
    </Panel>
  );
}

interface Wanted {
  readonly message: string;
  readonly data: Draft | undefined;
  /** Number of runs. */
  readonly times: number;
}

function useTrials(agent: string) {
  const { act, isBusy } = useAct();
  const [prompts, setPrompts] = useState(0);
  const [trials, setTrials] = useState<readonly Trial[]>([]);
  const start = ({ message, data, times }: Wanted): void =>
    void act({
      run: async () => {
        const prompt = prompts + 1;
        setPrompts(prompt);
        for (let i = 1; i <= times; i++) {
          const trial = await startTrial(agent, message, data);
          setTrials((before) => [...before, { ...trial, label: `${prompt}.${i}` }]);
        }
      },
      changes: [['sessions']],
    });
  return { trials, start, isBusy, clear: () => setTrials([]) };
}

interface PromptFormProps {
  readonly schema: ServerAgent['inputSchema'];
  readonly message: string;
  readonly isBusy: boolean;
  readonly onMessage: (message: string) => void;
  readonly onRun: (data: Draft | undefined, times: number) => void;
}

function PromptForm({ schema, message, isBusy, onMessage, onRun }: PromptFormProps) {
  const mayNot = unlessAllowed(useReader(), 'operate');
  const [times, setTimes] = useState('1');
  const [data, setData] = useState<Draft | undefined>(() =>
    schema === undefined ? undefined : (blankOf(schema) as Draft | undefined),
  );
  const [problem] = schema === undefined ? [] : problemsOf(schema, data);
  const unless =
    mayNot ?? (problem === undefined ? undefined : `${problem.path} ${problem.text}`.trim());
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault();
        if (unless === undefined && !isBusy) onRun(data, Number(times));
      }}
    >
      <textarea
        aria-label="Message that a run begins with"
        placeholder="Message"
        rows={3}
        value={message}
        onChange={(event) => onMessage(event.target.value)}
      />
      {schema === undefined ? null : (
        <SchemaForm
          {...{ schema, value: data, before: undefined, path: '', isReadOnly: false }}
          onChange={setData}
        />
      )}
      <div className={styles['acts']}>
        <Button look="first" icon="play" type="submit" isBusy={isBusy} unless={unless}>
          Run
        </Button>
        <SelectField label="How often" value={times} options={counts} onChange={setTimes} />
        <span className="faint">{unless}</span>
      </div>
    </form>
  );
}

async function startTrial(
  agent: string,
  message: string,
  data: Draft | undefined,
): Promise<Omit<Trial, 'label'>> {
  const handle = api.runs.start({
    agent,
    ...(message.trim() === '' ? {} : { input: message }),
    ...(data === undefined ? {} : { data: jsonOf(textOf(data)) as never }),
  });
  const { session, asked } = await handle.accepted();
  return { message, session, run: asked, handle };
}
