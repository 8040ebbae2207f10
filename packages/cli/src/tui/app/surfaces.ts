import type { RunContext } from '../../actions/carry-out.ts';
import type { TerminalModes } from '../../host/terminal-modes.ts';
import type { LogBook } from '../log/log-book.ts';
import type { Screen } from '../screens/live-view.ts';
import { withAsciiSigns } from '../text/signs.ts';
import { listenToKeys } from './keyboard.ts';
import { editOutside, editorCommand } from './outer-editor.ts';
import { Suspension } from './suspension.ts';
import { TerminalApp } from './terminal-app.ts';

export interface TerminalLook {
  /** True for signs of ASCII. @default in terminals without UTF-8 */
  readonly ascii?: boolean;
  /** True to say lines, and to paint nothing again. @default the variable INK_SCREEN_READER */
  readonly screenReader?: boolean;
}

export interface Opening {
  readonly look: TerminalLook;
  readonly modes: TerminalModes;
  /** Takes what is logged meanwhile. */
  readonly log: LogBook;
  /** Resolves when the app is to end. */
  readonly left: Promise<void>;
  readonly fault: Fault;
}

/** The app and where it is shown. */
export interface Shown {
  readonly app: TerminalApp;
  readonly hide: () => Promise<void>;
  /** Writes a text below the app, which is hidden. */
  readonly say: (text: string) => void;
}

/** Shows the app on the screen. */
export async function openScreen(
  context: RunContext,
  { look, modes, log, fault }: Opening,
): Promise<Shown> {
  const { host } = context;
  const screen = (): Screen => screenOf(host, look.ascii === true);
  const moves = host.env['ADJUTANT_MOTION'] !== '0';
  const { ScreenView } = await loadView();
  const onFault = fault.happened;
  const app = new TerminalApp({
    ...{ modes, screen, moves, log, hasViews: true, clock: host.clock },
    now: () => host.clock.now(),
    onLeave: fault.leave,
    onSuspend: () => suspension.suspend(),
    edit: async (edited) => {
      const command = editorCommand(host);
      return suspension.lend(() => editOutside(host, command, edited));
    },
    copy: (text) => host.stdout.write(clipboardText(text)),
    clearScreen: () => host.stdout.write('\u001B[H\u001B[2J'),
  });
  const view = new ScreenView({ host, app, screen, hasColours: coloursOf(host), moves, onFault });
  const { interruption } = context;
  const suspension = new Suspension({ host, interruption, modes, view, app, onFault });
  const forgets = [listenToKeys(context, app, onFault), suspension.listen()];
  host.stdout.write('\r\u001B[K');
  view.show();
  const hide = async (): Promise<void> => {
    for (const forget of forgets) forget();
    await view.hide();
  };
  const say = (text: string): void =>
    void host.stdout.write(screen().ascii ? withAsciiSigns(text) : text);
  return { app, hide, say };
}

/** Says the app line by line: nothing that was said is painted again. */
export async function openLines(
  { host }: RunContext,
  { modes, log, fault }: Opening,
): Promise<Shown> {
  const { LineView } = await import('../lines/line-view.ts');
  const nothing = (): void => undefined;
  const app = new TerminalApp({
    ...{ modes, moves: false, log, hasViews: false, clock: host.clock },
    screen: () => ({ columns: 120, rows: 50, ascii: false }),
    now: () => host.clock.now(),
    onLeave: fault.leave,
    ...{ onSuspend: nothing, copy: nothing, clearScreen: nothing },
    // Lines have no keys.
    edit: async ({ text }) => text,
  });
  const view = new LineView(host, app);
  view.show();
  return { app, hide: () => view.hide(), say: (text) => void host.stdout.write(text) };
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
export class Fault {
  /** Ends the app. */
  readonly leave: () => void;
  #thrown: { readonly error: unknown } | undefined;

  constructor(leave: () => void) {
    this.leave = leave;
  }

  readonly happened = (error: unknown): void => {
    this.#thrown ??= { error };
    this.leave();
  };

  rethrow(): void {
    if (this.#thrown !== undefined) throw this.#thrown.error;
  }
}
