import { type Runnable, type RunResult, type Runtime, runtime, type Session } from 'adjutant';
import { defined } from 'adjutant/text';
import { openLines } from '../access/local-line-chat.ts';
import { carryOut, type RunContext } from '../actions/carry-out.ts';
import { talk } from '../actions/chat.ts';
import { agentsOf } from '../app/agents.ts';
import type { Project } from '../app/project.ts';
import { rememberModel } from '../app/session-memory.ts';
import { hostOfProcess, watchTerminal } from '../host/host.ts';
import { Interruption, type Signals } from '../host/interruption.ts';
import { processSignals } from '../host/process-signals.ts';
import { takesKeys } from '../host/takes-keys.ts';
import type { CliOptions, CliOutcome } from './options.ts';

/** Name of the app, as the command line has it: its commands find the sessions of a store. */
const ownApp = 'adjutant';

/** Holds the conversation, in the terminal app where there is a terminal. */
export async function converse(
  runnable: Runnable,
  input: string | undefined,
  options: CliOptions,
): Promise<CliOutcome> {
  const { store } = options;
  const own = {
    app: ownApp,
    runnables: [runnable],
    recover: 'manual',
    ...defined({ store }),
  } as const;
  const app = options.app ?? runtime(own);
  watchTerminal(process);
  const { signals, forget } = signalsOfCall();
  const interruption = new Interruption(signals);
  interruption.listen();
  let result: RunResult | undefined;
  const context: RunContext = {
    host: { ...hostOfProcess(), signals },
    interruption,
    options: {},
    hasCommands: false,
    onResult: (one) => {
      result = one;
    },
  };
  try {
    const talked = await talkWith(context, { app, runnable, input, options });
    return { ...talked, result };
  } finally {
    forget();
    if (options.app === undefined) await app.close();
  }
}

interface Talk {
  readonly app: Runtime;
  readonly runnable: Runnable;
  readonly input: string | undefined;
  readonly options: CliOptions;
}

async function talkWith(
  context: RunContext,
  { app, runnable, input, options: { session: id, plain = false, ascii = false } }: Talk,
): Promise<Omit<CliOutcome, 'result'>> {
  const project = projectOf(app, runnable);
  if (!plain && takesKeys(context.host)) {
    const { runTerminalApp } = await import('../tui/app/open-terminal.ts');
    const { LocalWorkplace } = await import('../tui/session/local-workplace.ts');
    const workplace = new LocalWorkplace(context, project, runnable);
    const open = async () => ({ workplace, session: id });
    const left = await runTerminalApp(context, { open, input, look: { ascii } });
    return { exitCode: left.exitCode, session: await sessionOf(app, left.session ?? id) };
  }
  const session = await sessionOf(app, id);
  if (input !== undefined) {
    const exitCode = await carryOut(context, session, (run) =>
      app.run(runnable, { ...run, input, session }),
    );
    return { session, exitCode };
  }
  const lines = openLines(context, { project, agent: runnable, session });
  const exitCode = await talk(context, lines);
  return { session: await sessionOf(app, session.id), exitCode };
}

function sessionOf(app: Runtime, id: string | undefined): Promise<Session> {
  return app.sessions.open(defined({ id }));
}

/** The app of the program as the place of a conversation. Its maker closes it. */
function projectOf(app: Runtime, runnable: Runnable): Project {
  const others = agentsOf(app.runnables).filter((one) => one !== runnable);
  const agents = [runnable, ...others];
  return {
    app,
    configured: undefined,
    agents,
    place: {},
    find: (name) => [...agents, ...app.runnables].find((one) => one.name === name),
    who: ({ kind, name }) => `${kind} ${name}`,
    check: async () => undefined,
    remember: rememberModel,
    announce: () => undefined,
    close: async () => undefined,
  };
}

/** The signals of the process for as long as a call lasts: afterwards they are the program's. */
function signalsOfCall(): { readonly signals: Signals; readonly forget: () => void } {
  const listeners: (() => void)[] = [];
  const signals: Signals = {
    ...processSignals,
    listen: (signal, listener) => {
      process.on(signal, listener);
      listeners.push(() => process.off(signal, listener));
    },
    // The process is the program's.
    exit: () => undefined,
  };
  const forget = (): void => {
    for (const one of listeners) one();
  };
  return { signals, forget };
}
