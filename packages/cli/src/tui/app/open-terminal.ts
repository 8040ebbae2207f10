import { isRemote } from '../../access/server-flags.ts';
import type { RunContext } from '../../actions/carry-out.ts';
import { exitCodes } from '../../failure.ts';
import { costText } from '../feed/amounts.ts';
import { captureLog } from '../log/capture.ts';
import { LogBook } from '../log/log-book.ts';
import { endingOf, type OpenedWorkplace } from '../session/workplace.ts';
import { firstWords } from './header.ts';
import { Fault, type Opening, openLines, openScreen, type TerminalLook } from './surfaces.ts';
import type { TerminalApp } from './terminal-app.ts';
import { TerminalModes } from './terminal-modes.ts';

/** Opens the terminal app, and returns the exit code when it is left. */
export async function openTerminal(
  context: RunContext,
  sessionId: string | undefined,
  look: TerminalLook = {},
): Promise<number> {
  const { host, interruption } = context;
  const modes = new TerminalModes(host);
  // Nothing is loaded yet, and something is on the screen.
  host.stdout.write(firstWords());
  if (look.screenReader !== true) modes.enter();
  const log = new LogBook();
  const giveBack =
    look.screenReader === true
      ? () => undefined
      : captureLog(log, console, host.stderr, () => host.clock.now());
  try {
    const left = Promise.withResolvers<void>();
    const fault = new Fault(left.resolve);
    const code = await interruption.during(left.resolve, () =>
      runTerminal(context, sessionId, { look, modes, log, left: left.promise, fault }),
    );
    return interruption.exitCode ?? code;
  } finally {
    giveBack();
    modes.leave();
    host.stdin.pause();
  }
}

async function runTerminal(
  context: RunContext,
  sessionId: string | undefined,
  opening: Opening,
): Promise<number> {
  const { left, fault } = opening;
  const open = opening.look.screenReader === true ? openLines : openScreen;
  const { app, hide, say } = await open(context, opening);
  try {
    const loading = load(context, app, sessionId);
    await Promise.race([loading.then(() => left), left]);
    const wasOpen = await app.stop();
    await hide();
    fault.rethrow();
    if (!app.isLoaded) return endWhileLoading(context, loading);
    say(goodbye(app, wasOpen));
    const { workplace } = app;
    await workplace.close();
    return wasOpen && workplace.onLeave === 'stops' ? 130 : exitCodes.ok;
  } finally {
    await hide();
  }
}

async function load(
  context: RunContext,
  app: TerminalApp,
  sessionId: string | undefined,
): Promise<void> {
  const { workplace, session } = await openWorkplace(context, sessionId);
  await app.begin(workplace, session);
}

/** Ends the process, which a configuration that does not come to its end would keep alive. */
function endWhileLoading({ host, interruption }: RunContext, loading: Promise<void>): number {
  loading.catch(() => undefined);
  const code = interruption.exitCode ?? exitCodes.ok;
  host.signals.exit(code);
  return code;
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
  const kept = `Session ${endingOf(session)} is kept: ${facts}.`;
  const run = wasOpen ? runWords[workplace.onLeave] : '';
  return `${kept}${run}\nContinue with: ${workplace.commandFor(session)}\n`;
}
