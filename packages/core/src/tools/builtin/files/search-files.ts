import { isAdjutantError } from '../../../base/error.ts';
import { type Tool, type ToolContext, tool } from '../../tool.ts';
import { pathMatcher } from './glob.ts';
import { type RootedFiles, type RootedToolOptions, rootedFiles } from './rooted-files.ts';
import { eachLine, type TextLine } from './text-lines.ts';

export interface SearchFilesOptions extends RootedToolOptions {
  /** Larger files are left out and counted. @default 1_000_000 */
  readonly maxBytes?: number;
}

export interface FileMatch {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The line, shortened around the first hit. */
  readonly text: string;
}

export interface SearchFilesResult {
  /** In the order of paths and lines. */
  readonly matches: readonly FileMatch[];
  readonly searchedFiles: number;
  /** Files left out because they are larger than the limit. */
  readonly tooLarge?: readonly string[];
  /** There are more matches than the limit. */
  readonly truncated: boolean;
}

interface SearchFilesArgs {
  readonly query: string;
  readonly path?: string;
  readonly pattern?: string;
  readonly caseSensitive?: boolean;
  readonly limit?: number;
}

const description = `Searches the lines of text files for a literal text (not a regular \
expression) and gives path, line number and line of each match.
"path" narrows it to a folder or file, "pattern" to file names such as "*.md". \
Upper and lower case are the same unless "caseSensitive" is true.`;

/** A tool that searches text files below a folder for a literal text. Binary files are left out. */
export function searchFiles(options: SearchFilesOptions): Tool {
  const files = rootedFiles('searchFiles', options);
  const maxBytes = options.maxBytes ?? 1_000_000;
  return tool({
    name: 'searchFiles',
    description,
    schema: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 500, description: 'The text to find' },
        path: { type: 'string', description: 'Folder or file, relative to the root' },
        pattern: {
          type: 'string',
          minLength: 1,
          description: 'Pattern of file names, such as "*.md"',
        },
        caseSensitive: { type: 'boolean', default: false },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 500,
          default: 50,
          description: 'Most matches to give',
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    readOnly: true,
    execute: (ctx: ToolContext<SearchFilesArgs>) => search(files, ctx.args, maxBytes, ctx.signal),
  });
}

async function search(
  files: RootedFiles,
  args: SearchFilesArgs,
  maxBytes: number,
  signal: AbortSignal,
): Promise<SearchFilesResult> {
  const { path = '.', pattern, limit = 50 } = args;
  const selected = pattern === undefined ? () => true : pathMatcher(pattern);
  const matches: FileMatch[] = [];
  const tooLarge: string[] = [];
  let searchedFiles = 0;
  const result = (truncated: boolean): SearchFilesResult => ({
    matches,
    searchedFiles,
    ...(tooLarge.length > 0 ? { tooLarge } : undefined),
    truncated,
  });
  for await (const file of files.walk(path, signal)) {
    if (!selected(file.path)) continue;
    if (file.size > maxBytes) {
      if (tooLarge.length < 20) tooLarge.push(file.path);
      continue;
    }
    searchedFiles++;
    matches.push(
      ...(await matchesIn(files, file.path, args, {
        maxBytes,
        signal,
        most: limit + 1 - matches.length,
      })),
    );
    if (matches.length > limit) {
      matches.pop();
      return result(true);
    }
  }
  return result(false);
}

interface FileSearch {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly most: number;
}

async function matchesIn(
  files: RootedFiles,
  path: string,
  args: SearchFilesArgs,
  { maxBytes, signal, most }: FileSearch,
): Promise<FileMatch[]> {
  const matches: FileMatch[] = [];
  const { query, caseSensitive = false } = args;
  const folded = caseSensitive ? query : query.toLowerCase();
  try {
    await using file = await files.open(path);
    const look = ({ text, number }: TextLine): boolean => {
      const at = (caseSensitive ? text : text.toLowerCase()).indexOf(folded);
      if (at >= 0) matches.push({ path, line: number, text: around(text, at, query.length) });
      return matches.length < most;
    };
    await eachLine(file, maxBytes, look, { signal });
  } catch (thrown) {
    // A binary file, or one that was removed or cannot be read, has no matches.
    if (!isAdjutantError(thrown, 'tool_failure')) throw thrown;
  }
  return matches;
}

const longestText = 300;

function around(line: string, at: number, length: number): string {
  if (line.length <= longestText) return line;
  const start = Math.max(0, Math.min(at - 100, line.length - longestText));
  const end = Math.max(start + longestText, Math.min(at + length, start + 2 * longestText));
  return `${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''}`;
}
