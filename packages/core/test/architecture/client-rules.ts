import type { Finding } from './finding.ts';
import { packageOf, relativeTarget } from './import-graph.ts';
import { isTestFile } from './room-rules.ts';
import type { ModuleImport, SourceFile } from './source-file.ts';

const server = 'packages/server/src/';
const client = `${server}client/`;
/** Packages that a page may load with the client; they run in browsers and in Node. */
const packages: readonly string[] = ['eventsource-parser'];
/**
 * File that supplies time, timers and randomness to the server and its client. The server gets them
 * from core, the client from the platform.
 */
const portFile = `${client}ports.ts`;

/** Returns the findings of the rules that hold for the server and its client. */
export function checkServer(files: readonly SourceFile[]): Finding[] {
  const sources = files.filter(({ path }) => path.startsWith(server) && !isTestFile(path));
  return sources.flatMap((file) => [
    ...(file.path.startsWith(client) ? checkClientImports(file) : []),
    ...checkChance(file),
  ]);
}

/**
 * Checks that the client, which runs in pages, loads no module of core, of the server or of Node.
 * Imports of types are allowed, because they do not exist at run time.
 */
function checkClientImports(file: SourceFile): Finding[] {
  return file.imports.flatMap((imported) => {
    const reason = refusal(file, imported);
    const { specifier, line } = imported;
    return reason === undefined
      ? []
      : [
          {
            rule: 'client-import' as const,
            file: file.path,
            line,
            subject: specifier,
            message: `"${specifier}": ${reason}`,
          },
        ];
  });
}

function refusal(file: SourceFile, { specifier, kind }: ModuleImport): string | undefined {
  if (kind === 'type') return undefined;
  const target = relativeTarget(file.path, specifier);
  if (target !== undefined)
    return target.startsWith(client)
      ? undefined
      : 'the client may import only types of the rest of the server';
  const name = packageOf(specifier);
  if (name !== undefined && packages.includes(name)) return undefined;
  return `the client runs in pages and may import only ${packages.join(', ')} and types`;
}

function checkChance(file: SourceFile): Finding[] {
  if (file.path === portFile) return [];
  return file.sourcesOfChance.map(({ line, subject }) => ({
    rule: 'raw-source-of-chance',
    file: file.path,
    line,
    subject,
    message:
      `"${subject}": time, timers, identifiers and randomness enter through the ports of ` +
      'core, in the client through ports.ts',
  }));
}
