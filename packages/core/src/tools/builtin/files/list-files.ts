import { type Tool, type ToolContext, tool } from '../../tool.ts';
import { pathMatcher } from './glob.ts';
import { type FoundFile, type RootedToolOptions, rootedFiles } from './rooted-files.ts';

export interface ListFilesResult {
  /** In the order of their paths. */
  readonly files: readonly FoundFile[];
  /** There are more files than the limit. */
  readonly truncated: boolean;
}

interface ListFilesArgs {
  readonly path?: string;
  readonly pattern?: string;
  readonly limit?: number;
}

const description = `Lists files with their sizes in bytes, in all folders below "path" (or below \
the root).
"pattern" selects: "*.csv" by file name; with a "/" by the path from the root, such as \
"reports/**/*.{csv,txt}". node_modules and .git are left out.`;

/** A tool that lists the files below a folder. */
export function listFiles(options: RootedToolOptions): Tool {
  const files = rootedFiles('listFiles', options);
  return tool({
    name: 'listFiles',
    description,
    schema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Folder, relative to the root' },
        pattern: {
          type: 'string',
          minLength: 1,
          description: 'Pattern such as "*.csv" or "reports/**"',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 1_000,
          default: 200,
          description: 'Most files to list',
        },
      },
      additionalProperties: false,
    },
    readOnly: true,
    execute: async (ctx: ToolContext<ListFilesArgs>): Promise<ListFilesResult> => {
      const { path = '.', pattern, limit = 200 } = ctx.args;
      const matches = pattern === undefined ? () => true : pathMatcher(pattern);
      const found: FoundFile[] = [];
      for await (const file of files.walk(path, ctx.signal)) {
        if (!matches(file.path)) continue;
        if (found.length === limit) return { files: found, truncated: true };
        found.push(file);
      }
      return { files: found, truncated: false };
    },
  });
}
