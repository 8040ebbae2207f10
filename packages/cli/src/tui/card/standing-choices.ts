import { visibleLine } from 'adjutant/text';
import type { StandingExtent } from '../../grammar/standing-extent.ts';
import type { OpenRequest } from '../feed/call-record.ts';

/** Later calls that an approval may allow as well, in words. */
export interface StandingChoice {
  readonly words: string;
  readonly always: StandingExtent;
}

/** Arguments that hold paths, by their names. */
const pathName = /^(path|file|folder|directory)$|(Path|File|Folder|Directory)$/;

/** Returns what an approval of a call may allow besides it; none where each call is asked about. */
export function standingChoices(request: OpenRequest): readonly StandingChoice[] {
  const { kind, details, name, isQuestion, args } = request;
  const isOffered = kind === 'approval' && details.options.includes('approve') && !isQuestion;
  if (!isOffered || details.destructive === true || details.mayDecide !== undefined) return [];
  const folder = folderOf(args);
  const tool = visibleLine(name);
  return [
    { words: 'this very call', always: 'call' },
    { words: `every ${tool}`, always: 'tool' },
    ...(folder === undefined
      ? []
      : [{ words: `every ${tool} below ${visibleLine(folder)}/`, always: { below: folder } }]),
  ];
}

/** The folder in which the only path among the arguments lies. */
function folderOf(args: OpenRequest['args']): string | undefined {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return undefined;
  const paths = Object.entries(args).filter(([name]) => pathName.test(name));
  const [, path] = paths[0] ?? [];
  if (paths.length !== 1 || typeof path !== 'string') return undefined;
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  return folder === '' || folder.split('/').includes('..') ? undefined : folder;
}
