import type { AppAccess } from '../access/app-access.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host/host.ts';
import { shells } from '../output/completion-scripts.ts';
import { plainLine } from '../output/plain-text.ts';
import { sessionName } from '../output/session-name.ts';

/** A command of the program, as its completion needs it. */
export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  /** Names of its arguments. */
  readonly takes: readonly string[];
  /** Names of its own commands. */
  readonly commands: readonly string[];
  readonly flags: readonly {
    readonly name: string;
    readonly description: string;
    readonly takesValue: boolean;
    readonly choices: readonly string[];
  }[];
}

/** A word to complete with, and what it means. */
type Candidate = readonly [word: string, text?: string | undefined];

const mostSessions = 50;
/** Words that no shell takes for anything else. Others are not offered. */
const safeWord = /^[\w@%+=:,./-]+$/;
/** Flags of a command line that say which app is meant. */
const placeFlags = ['config', 'store', 'app', 'server', 'key'] as const;

/**
 * `adjutant complete-words -- <words>`: prints the words with which the last one can be completed,
 * each with a tab and what it means. A fault prints nothing, as the shell has no place for it.
 */
export async function completeWords(
  host: Host,
  commands: readonly CompletedCommand[],
  words: readonly string[],
): Promise<number> {
  const begun = words.at(-1) ?? '';
  const found = await candidates(host, commands, words).catch(() => []);
  for (const [word, text = ''] of found)
    if (word.startsWith(begun) && safeWord.test(word))
      host.stdout.write(`${word}\t${plainLine(text)}\n`);
  return exitCodes.ok;
}

async function candidates(
  host: Host,
  commands: readonly CompletedCommand[],
  words: readonly string[],
): Promise<readonly Candidate[]> {
  const before = words.slice(0, -1);
  const begun = words.at(-1) ?? '';
  const named = commands.find(({ name }) => name === before[0]);
  if (named === undefined && before.length === 0 && !begun.startsWith('-'))
    return commands.map(({ name, description }) => [name, description]);
  const command = named ?? commands.find(({ name }) => name === 'run');
  if (command === undefined) return [];
  const flag = command.flags.find(({ name }) => name === before.at(-1));
  if (flag?.takesValue === true) return valuesOf(host, flag, before);
  if (begun.startsWith('-'))
    return command.flags.map(({ name, description }) => [name, description]);
  return argumentsOf(host, command, before);
}

/** Values of a flag: those that it lists, agents, or sessions. */
async function valuesOf(
  host: Host,
  { name, choices }: CompletedCommand['flags'][number],
  before: readonly string[],
): Promise<readonly Candidate[]> {
  if (name === '--agent') return agents(host, before);
  if (name === '--session') return sessions(host, before);
  return choices.map((choice): Candidate => [choice]);
}

/** First words behind a command: its own commands, sessions, requests, or shells. */
async function argumentsOf(
  host: Host,
  { takes, commands }: CompletedCommand,
  before: readonly string[],
): Promise<readonly Candidate[]> {
  if (commands.length > 0)
    return before.length === 1 ? commands.map((one): Candidate => [one]) : [];
  const [first = ''] = takes;
  if (['session', 'a'].includes(first)) return sessions(host, before);
  if (first === 'request') return requests(host, before);
  return first === 'shell' ? shells.map((shell): Candidate => [shell]) : [];
}

async function agents(host: Host, before: readonly string[]): Promise<readonly Candidate[]> {
  // Most words are completed without the app.
  const { openReader, withProject } = await import('../app/project.ts');
  return withProject(openReader(host, placeIn(before)), async (project) =>
    (project?.app.runnables ?? []).map(({ name, description }) => [name, description ?? '']),
  );
}

async function sessions(host: Host, before: readonly string[]): Promise<readonly Candidate[]> {
  const access = await accessTo(host, before);
  const found = await access.listSessions({ limit: mostSessions });
  return [
    ['last', 'the newest session'],
    ...found.sessions.map(({ id, title }): Candidate => [sessionName(id).replace('…', ''), title]),
  ];
}

async function requests(host: Host, before: readonly string[]): Promise<readonly Candidate[]> {
  const access = await accessTo(host, before);
  const found = await access.listRequests(undefined);
  return found.map(({ requestId, summary }) => [requestId, summary]);
}

async function accessTo(host: Host, before: readonly string[]): Promise<AppAccess> {
  const { openAccess } = await import('../access/open-access.ts');
  return openAccess(host, placeIn(before));
}

/** Returns the flags among the words that say which app is meant. */
function placeIn(words: readonly string[]): Record<string, string | false> {
  const given: [string, string | false][] = placeFlags.flatMap((name) => {
    const at = words.indexOf(`--${name}`);
    const value = at < 0 ? undefined : words[at + 1];
    return value === undefined ? [] : [[name, value] as [string, string]];
  });
  return Object.fromEntries(words.includes('--no-config') ? [...given, ['config', false]] : given);
}
