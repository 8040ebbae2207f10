import { isRemote } from '../../access/server-flags.ts';
import type { RunContext } from '../../actions/carry-out.ts';
import { exitCodes } from '../../failure.ts';
import { costText } from '../feed/amounts.ts';
import type { Screen } from '../screens/live-view.ts';
import { endingOf, type OpenedWorkplace } from '../session/workplace.ts';
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
  const { host } = context;
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
    const { workplace, session } = await openWorkplace(context, sessionId);
    await app.begin(workplace, session);
    await left;
    const wasOpen = await app.stop();
    await view.hide();
    sayGoodbye(context, app, wasOpen);
    await workplace.close();
    fault.rethrow();
    return wasOpen && workplace.onLeave === 'stops' ? 130 : exitCodes.ok;
  } finally {
    forgetSignals();
    forgetKeys();
    await view.hide();
  }
}

/** Opens the place that the options name. Only `--server` loads the client of a server. */
async function openWorkplace(
  context: RunContext,
  sessionId: string | undefined,
): Promise<OpenedWorkplace> {
  const { options } = context;
  if (!isRemote(options)) {
    const { openLocalWorkplace } = await import('../session/local-workplace.ts');
    return openLocalWorkplace(context, sessionId);
  }
  const { openServerWorkplace } = await import('../session/server-workplace.ts');
  return openServerWorkplace({ ...context, options }, sessionId);
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

/** Fate of an open run whose app was left. */
const runWords = {
  stops: ' Its run is stopped, not ended.',
  goesOn: ' The run goes on there.',
} as const;

function sayGoodbye({ host }: RunContext, app: TerminalApp, wasOpen: boolean): void {
  const { conversation, events, feed, workplace } = app;
  const { session } = conversation;
  if (events.length === 0 || session === undefined) return;
  const facts = `${events.length} events, ${costText(feed.totals)}`;
  const kept = `Session ${endingOf(session)} is kept: ${facts}.`;
  const run = wasOpen ? runWords[workplace.onLeave] : '';
  host.stdout.write(`${kept}${run}\nContinue with: ${workplace.commandFor(session)}\n`);
}
