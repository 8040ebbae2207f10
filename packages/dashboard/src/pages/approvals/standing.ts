import type { AdjutantClient, Answer, ServerRequest } from '@adjutant/server/client';
import { firstLine } from '../../components/visible-text.ts';
import { fieldsOf } from '../../ledger/event-words.ts';
import type { RequestEvent } from './use-requests.ts';

export type Extent = NonNullable<Answer['always']>;
export type Standing = Awaited<ReturnType<AdjutantClient['approvals']['standing']>>[number];

/** Later calls that an approval may allow as well, in words. */
export interface StandingChoice {
  readonly words: string;
  readonly always: Extent;
}

/** Arguments that hold paths, by their names: the same as the server knows. */
const pathName = /^(path|file|folder|directory)$|(Path|File|Folder|Directory)$/;

/**
 * Returns what an approval of a call may allow besides it; nothing where each call is asked about.
 * @param asked the event with the arguments, when it was read
 */
export function standingChoices(
  { kind, options, mayDecide, callId, invocationId, name }: ServerRequest,
  asked: RequestEvent | null | undefined,
): readonly StandingChoice[] {
  // A question of a step is asked for one run only.
  const isOffered = kind === 'approval' && options.includes('approve') && callId !== invocationId;
  if (!isOffered || mayDecide !== undefined) return [];
  if (asked === undefined || asked?.request?.['destructive'] === true) return [];
  const folder = folderOf(asked?.args);
  return [
    { words: 'equal calls', always: 'call' },
    { words: everyCall(name), always: 'tool' },
    ...(folder === undefined
      ? []
      : [{ words: everyCall(name, folder), always: { below: folder } }]),
  ];
}

/** An approval that holds, in words: "every call of save below src/". */
export function standingWords({ tool, covers }: Pick<Standing, 'tool' | 'covers'>): string {
  if (covers === 'call') return `equal calls of ${firstLine(tool, 60)}`;
  return covers === 'tool' ? everyCall(tool) : everyCall(tool, covers.below);
}

function everyCall(tool: string, folder?: string): string {
  const below = folder === undefined ? '' : ` below ${firstLine(folder.replace(/\/+$/, ''), 80)}/`;
  return `every call of ${firstLine(tool, 60)}${below}`;
}

/** The folder in which the only path among the arguments lies. */
function folderOf(args: unknown): string | undefined {
  const paths = Object.entries(fieldsOf(args)).filter(([name]) => pathName.test(name));
  const [, path] = paths[0] ?? [];
  if (paths.length !== 1 || typeof path !== 'string') return undefined;
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  return folder === '' || folder.split('/').includes('..') ? undefined : folder;
}
