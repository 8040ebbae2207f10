import { createInterface } from 'node:readline';
import type { LineChat, LineDecision } from '../access/line-chat.ts';
import { isRemote } from '../access/server-flags.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { Interruption } from '../host/interruption.ts';
import { isForScreenReader, isTerminal, takesKeys } from '../host/takes-keys.ts';
import { laneWords } from '../output/lane-text.ts';
import { notice } from '../output/notice.ts';
import { styleFor } from '../output/style.ts';
import type { TerminalLook } from '../tui/app/surfaces.ts';
import { commandLine, type RunContext } from './carry-out.ts';

export interface ChatLook extends TerminalLook {
  /** True to talk line by line in a terminal, too. @default false */
  readonly plain?: boolean;
}

/** `adjutant chat`: holds a conversation in one session, with a run for each line. */
export async function chat(
  context: RunContext,
  sessionId: string | undefined,
  { plain = false, ...look }: ChatLook = {},
): Promise<number> {
  const { host } = context;
  const screenReader = look.screenReader ?? isForScreenReader(host);
  const isLineByLine = plain || context.options.json === true;
  if (!isLineByLine && (takesKeys(host) || (screenReader && isTerminal(host)))) {
    const { openTerminal } = await import('../tui/app/open-terminal.ts');
    return openTerminal(context, sessionId, { ...look, screenReader });
  }
  const lines = await openLines(context, sessionId);
  try {
    return await talk(context, lines);
  } finally {
    await lines.close();
  }
}

/** Opens the chat that the options name. Only `--server` loads the client of a server. */
async function openLines(context: RunContext, named: string | undefined): Promise<LineChat> {
  const { options } = context;
  if (!isRemote(options))
    return (await import('../access/local-line-chat.ts')).openLocalLines(context, named);
  const { openServerLines } = await import('../access/server-line-chat.ts');
  return openServerLines({ ...context, options }, named);
}

/** Carries out the lines of standard input, and returns the exit code. */
export async function talk(context: RunContext, chat: LineChat): Promise<number> {
  const { host, interruption, options } = context;
  const hasTerminal = isTerminal(host);
  const dim = (text: string): void => {
    if (hasTerminal && options.json !== true)
      host.stdout.write(`${styleFor(host.stdout).dim(text)}\n`);
  };
  let failed = false;
  let code: number = exitCodes.ok;
  dim('What is to be done? /exit or Ctrl-D ends.');
  for await (const line of hasTerminal
    ? typedLines(host, interruption)
    : createInterface({ input: host.stdin })) {
    const input = line.trim();
    if (input === '/exit' || input === '/quit') break;
    if (input === '') continue;
    const next = await carryOutLine(host, chat, input);
    if (next === undefined) continue;
    code = next;
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    failed ||= code !== exitCodes.ok && code !== exitCodes.waiting;
    if (code === exitCodes.waiting) dim('Here, /approve and /reject answer.');
  }
  const { session } = chat;
  if (session !== undefined && context.hasCommands !== false) {
    const words = ['chat', '--session', session, ...laneWords(options.lane)];
    dim(`To go on later: ${commandLine(words, options)}`);
  }
  return interruption.exitCode ?? (hasTerminal ? exitCodes.ok : failed ? exitCodes.failed : code);
}

/** Returns the exit code of the run of a line. `undefined`: there was nothing to run. */
async function carryOutLine(
  host: Host,
  chat: LineChat,
  input: string,
): Promise<number | undefined> {
  const decision = decisionIn(input);
  if (decision === undefined) return chat.say(input);
  const code = await chat.decide(decision);
  if (code === undefined) notice(host, 'Nothing waits for that.');
  return code;
}

/** Decision that a line states about the waiting call: `/approve`, or `/reject` with a reason. */
function decisionIn(line: string): LineDecision | undefined {
  const [, decision, reason = ''] = /^\/(approve|reject)(?:\s+(.*))?$/.exec(line) ?? [];
  if (decision !== 'approve' && decision !== 'reject') return undefined;
  return { decision, ...(reason === '' ? {} : { reason }) };
}

/**
 * Yields lines from a terminal. Between the prompts the terminal is out of raw mode, so that Ctrl-C
 * is a signal again.
 */
async function* typedLines(host: Host, interruption: Interruption): AsyncGenerator<string> {
  let history: string[] = [];
  for (;;) {
    const prompt = createInterface({ input: host.stdin, output: host.stdout, history });
    prompt.on('history', (entries) => {
      history = entries;
    });
    prompt.on('SIGINT', () => interruption.interrupt('SIGINT'));
    const line = await interruption.during(
      () => prompt.close(),
      () =>
        new Promise<string | undefined>((resolve) => {
          prompt.on('close', () => resolve(undefined));
          prompt.question('> ', resolve);
        }),
    );
    prompt.close();
    if (line === undefined) {
      host.stdout.write('\n');
      return;
    }
    yield line;
  }
}
