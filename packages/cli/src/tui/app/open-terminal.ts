import { isRemote } from '../../access/server-flags.ts';
import type { RunContext } from '../../actions/carry-out.ts';
import { exitCodes } from '../../failure.ts';
import { EarlyTerminal } from '../../host/first-words.ts';
import { TerminalModes } from '../../host/terminal-modes.ts';
import { costText } from '../feed/amounts.ts';
import { captureLog } from '../log/capture.ts';
import { LogBook } from '../log/log-book.ts';
import { StartQuestions } from '../session/start-questions.ts';
import { endingOf, type OpenedWorkplace } from '../session/workplace.ts';
import { Fault, type Opening, openLines, openScreen, type TerminalLook } from './surfaces.ts';
import type { TerminalApp } from './terminal-app.ts';

/** Opens the terminal app, and returns the exit code when it is left. */
export async function openTerminal(
  context: RunContext,
  sessionId: string | undefined,
  look: TerminalLook = {},
): Promise<number> {
  const open: TerminalStart['open'] = (questions) => openWorkplace(context, sessionId, questions);
  return (await runTerminalApp(context, { open, look })).exitCode;
}

export interface TerminalStart {
  /** Opens the place of the sessions, as soon as something is on the screen. */
  readonly open: (questions: StartQuestions) => Promise<OpenedWorkplace>;
  readonly look: TerminalLook;
  /** First message. */
  readonly input?: string | undefined;
}

/** State in which the app was left. */
export interface LeftTerminal {
  readonly exitCode: number;
  /** Id of the session that was open. `undefined`: it had none yet. */
  readonly session: string | undefined;
}

/** Opens the terminal app on a place of sessions, and resolves when it is left. */
export async function runTerminalApp(
  context: RunContext,
  start: TerminalStart,
): Promise<LeftTerminal> {
  const { host, interruption } = context;
  const { look } = start;
  const isSpoken = look.screenReader === true;
  // Nothing is loaded yet, and something is on the screen.
  const early = context.early?.take() ?? (isSpoken ? undefined : new EarlyTerminal(host).take());
  const modes = early ?? new TerminalModes(host);
  const log = new LogBook();
  const giveBack = isSpoken
    ? () => undefined
    : captureLog(log, console, host.stderr, () => host.clock.now());
  try {
    const left = Promise.withResolvers<void>();
    const fault = new Fault(left.resolve);
    const { exitCode, session } = await interruption.during(left.resolve, () =>
      runTerminal(context, start, { look, modes, log, left: left.promise, fault }),
    );
    return { exitCode: interruption.exitCode ?? exitCode, session };
  } finally {
    giveBack();
    modes.leave();
    host.stdin.pause();
  }
}

async function runTerminal(
  context: RunContext,
  start: TerminalStart,
  opening: Opening,
): Promise<LeftTerminal> {
  const { left, fault } = opening;
  const open = opening.look.screenReader === true ? openLines : openScreen;
  const { app, hide, say } = await open(context, opening);
  try {
    const loading = load(app, start);
    await Promise.race([loading.then(() => left), left]);
    const wasOpen = await app.stop();
    await hide();
    fault.rethrow();
    if (!app.isLoaded) return endWhileLoading(context, loading);
    say(goodbye(app, wasOpen));
    const { workplace } = app;
    await workplace.close();
    const exitCode = wasOpen && workplace.onLeave === 'stops' ? 130 : exitCodes.ok;
    return { exitCode, session: app.conversation.session };
  } finally {
    await hide();
  }
}

async function load(app: TerminalApp, { open, input }: TerminalStart): Promise<void> {
  const { workplace, session } = await open(new StartQuestions(app));
  await app.begin(workplace, session);
  if (input !== undefined) app.say(input);
}

/** Ends the process, which a configuration that does not come to its end would keep alive. */
function endWhileLoading({ host, interruption }: RunContext, loading: Promise<void>): LeftTerminal {
  loading.catch(() => undefined);
  const exitCode = interruption.exitCode ?? exitCodes.ok;
  host.signals.exit(exitCode);
  return { exitCode, session: undefined };
}

/** Opens the place that the options name. Only `--server` loads the client of a server. */
async function openWorkplace(
  context: RunContext,
  sessionId: string | undefined,
  questions: StartQuestions,
): Promise<OpenedWorkplace> {
  const { options } = context;
  if (!isRemote(options)) {
    const { openLocalWorkplace } = await import('../session/local-workplace.ts');
    return openLocalWorkplace(context, sessionId, questions);
  }
  const { openServerWorkplace } = await import('../session/server-workplace.ts');
  return openServerWorkplace({ ...context, options }, sessionId);
}

/** Fate of an open run whose app was left. */
const runWords = {
  stops: ' Its run is stopped, not ended.',
  goesOn: ' The run goes on there.',
} as const;

/** The last words of the app: the facts of its session, and how to come back. */
function goodbye({ conversation, events, feed, workplace }: TerminalApp, wasOpen: boolean): string {
  const { session } = conversation;
  if (events.length === 0 || session === undefined) return '';
  const facts = `${events.length} events, ${costText(feed.totals)}`;
  const run = wasOpen ? runWords[workplace.onLeave] : '';
  const command = workplace.commandFor(session);
  if (command === undefined) return `Session ${session}: ${facts}.${run}\n`;
  return `Session ${endingOf(session)} is kept: ${facts}.${run}\nContinue with: ${command}\n`;
}
