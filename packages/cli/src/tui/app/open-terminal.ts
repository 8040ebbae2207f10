import type { RunContext } from '../../actions/carry-out.ts';
import { chosenAgent } from '../../app/chosen-agent.ts';
import { sessionToGoOn } from '../../app/named-session.ts';
import { openProject } from '../../app/project.ts';
import { exitCodes } from '../../failure.ts';
import { costText } from '../feed/amounts.ts';
import type { Screen } from '../screens/live-view.ts';
import { LocalWorkplace } from '../session/local-workplace.ts';
import { endingOf } from '../session/workplace.ts';
import { firstWords } from './header.ts';
import { listenToKeys } from './keyboard.ts';
import { Suspension } from './suspension.ts';
import { TerminalApp } from './terminal-app.ts';
import { TerminalModes } from './terminal-modes.ts';

export interface TerminalLook {
  /** True for signs of ASCII. @default in terminals without UTF-8 */
  readonly ascii?: boolean;
}

/** Opens the terminal app, and returns the exit code when it is left. */
export async function openTerminal(
  context: RunContext,
  sessionId: string | undefined,
  { ascii = false }: TerminalLook = {},
): Promise<number> {
  const { host, interruption } = context;
  const modes = new TerminalModes(host);
  // Nothing is loaded yet, and something is on the screen.
  host.stdout.write(firstWords());
  modes.enter();
  try {
    const left = Promise.withResolvers<void>();
    const stop = (): void => left.resolve();
    const code = await interruption.during(stop, () =>
      runTerminal(context, { sessionId, modes, left: left.promise, stop, ascii }),
    );
    return interruption.exitCode ?? code;
  } finally {
    modes.leave();
    host.stdin.pause();
  }
}

interface Opening {
  readonly sessionId: string | undefined;
  readonly modes: TerminalModes;
  readonly left: Promise<void>;
  readonly stop: () => void;
  readonly ascii: boolean;
}

async function runTerminal(
  context: RunContext,
  { sessionId, modes, left, stop, ascii }: Opening,
): Promise<number> {
  const { host, options } = context;
  const screen = (): Screen => screenOf(host, ascii);
  const moves = host.env['ADJUTANT_MOTION'] !== '0';
  const { ScreenView } = await loadView();
  const app = new TerminalApp({
    ...{ modes, screen, moves },
    clock: host.clock,
    now: () => host.clock.now(),
    onLeave: stop,
    onSuspend: () => suspension.suspend(),
    copy: (text) => host.stdout.write(clipboardText(text)),
    clearScreen: () => host.stdout.write('\u001B[H\u001B[2J'),
  });
  const fault = new Fault(stop);
  const onFault = fault.happened;
  const view = new ScreenView({ host, app, screen, hasColours: coloursOf(host), moves, onFault });
  const suspension = new Suspension({ host, modes, view, app, onFault });
  const forgetKeys = listenToKeys(context, app, onFault);
  const forgetSignals = suspension.listen();
  host.stdout.write('\r\u001B[K');
  view.show();
  try {
    const project = await openProject(host, options, { session: sessionId });
    const id = sessionId === undefined ? undefined : await sessionToGoOn(project, sessionId);
    const agent = await chosenAgent(host, project, { agent: options.agent, session: id });
    const workplace = new LocalWorkplace(context, project, agent);
    await app.begin(workplace, id);
    await left;
    const stopped = await app.stop();
    await view.hide();
    sayGoodbye(context, app, stopped);
    await workplace.close();
    fault.rethrow();
    return stopped ? 130 : exitCodes.ok;
  } finally {
    forgetSignals();
    forgetKeys();
    await view.hide();
  }
}

/** Loads React and Ink. React is slower by far outside of production. */
async function loadView(): Promise<typeof import('../view/screen-view.ts')> {
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  try {
    return await import('../view/screen-view.ts');
  } finally {
    if (before === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = before;
  }
}

/** The sequence (OSC 52) by which terminals take a text into their clipboard. */
function clipboardText(text: string): string {
  return `\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`;
}

function screenOf({ stdout, env }: RunContext['host'], isAsciiAsked: boolean): Screen {
  const { columns = 80, rows = 24 } = stdout as NodeJS.WriteStream;
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  const ascii = isAsciiAsked || !/utf-?8/i.test(locale) || env['TERM'] === 'linux';
  return { columns, rows, ascii };
}

function coloursOf({ env }: RunContext['host']): boolean {
  return (env['NO_COLOR'] ?? '') === '';
}

/** A fault of the app itself. It ends the app, but not before its run is stopped in order. */
class Fault {
  readonly #stop: () => void;
  #thrown: { readonly error: unknown } | undefined;

  constructor(stop: () => void) {
    this.#stop = stop;
  }

  readonly happened = (error: unknown): void => {
    this.#thrown ??= { error };
    this.#stop();
  };

  rethrow(): void {
    if (this.#thrown !== undefined) throw this.#thrown.error;
  }
}

function sayGoodbye({ host }: RunContext, app: TerminalApp, stopped: boolean): void {
  const { conversation, events, feed, workplace } = app;
  if (events.length === 0) return;
  const facts = `${events.length} events, ${costText(feed.totals)}`;
  const kept = `Session ${endingOf(conversation.session)} is kept: ${facts}.`;
  const run = stopped ? ' Its run is stopped, not ended.' : '';
  host.stdout.write(
    `${kept}${run}\nContinue with: ${workplace.commandFor(conversation.session)}\n`,
  );
}
