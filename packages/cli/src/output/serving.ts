import type { Runtime } from 'adjutant';
import { ownCommand } from '../host/own-name.ts';
import { plainLine } from './plain-text.ts';
import type { Style } from './style.ts';

/** An app that the command line serves. */
export interface ServedApp {
  readonly app: Runtime;
  /** Place of its sessions, for people. */
  readonly store: string;
  /** Reports on stderr the facts to know before serving begins. */
  readonly announce: () => void;
}

/** Lines about a served app: its address, its settings, and how to try it. */
export function servingLines(
  style: Style,
  { app, store }: ServedApp,
  {
    url,
    page,
    isOpen,
  }: { readonly url: string; readonly page: string | undefined; readonly isOpen: boolean },
): string[] {
  const names = app.runnables.map(({ name }) => name);
  const key = isOpen ? '' : ' -H "authorization: Bearer $ADJUTANT_KEY"';
  const run = JSON.stringify({ agent: names[0] ?? '…', input: 'What is 15% of 1234.50?' });
  const facts: readonly (readonly [string, string])[] = [
    ...(page === undefined ? [] : [['page', page] as const]),
    [
      'agents',
      names.length === 0
        ? 'none: register runnables with runtime({ runnables })'
        : names.join(', '),
    ],
    ['store', store],
    [
      'access',
      isOpen
        ? `without a key, from this machine only; ${ownCommand('keys create')} makes keys, which ` +
          'are asked for from the next start on'
        : 'with a key or a token',
    ],
    [
      'streams',
      app.streams.reach === 'everywhere'
        ? 'answers as they are written, from every process'
        : 'answers as they are written, in this process',
    ],
  ];
  return [
    `Serving the app ${style.bold(plainLine(app.app))} at ${style.bold(url)}`,
    ...facts.map(([name, text]) => `  ${style.dim(name.padEnd(8))} ${plainLine(text)}`),
    '',
    'Try it in another terminal:',
    `  curl -N ${url}/v1/runs -H "content-type: application/json" -H "accept: ` +
      `text/event-stream"${key} -d ${quoted(run)}`,
    `  ${ownCommand(`sessions --server ${url}`)}`,
    '',
    style.dim('Ctrl-C ends it.'),
  ];
}

/** Returns text quoted for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
