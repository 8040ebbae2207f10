import type { Finding } from './finding.ts';
import { packageOf, reachedFrom } from './import-graph.ts';
import { modulesOutsideIndex, sizeLimits } from './rooms.ts';
import type { SourceFile } from './source-file.ts';

/** Checks that the index is a hand-written list of named exports and nothing else. */
export function checkIndexShape(index: SourceFile): Finding[] {
  const findings = index.ownDeclarations.map(
    ({ line, subject }): Finding => ({
      rule: 'index-shape',
      file: index.path,
      line,
      subject,
      message: `the index holds only "export { … } from", no ${subject}`,
    }),
  );
  if (index.lines <= sizeLimits.indexLines) return findings;
  const message = `${index.lines} lines; the index may have ${sizeLimits.indexLines}`;
  return [
    ...findings,
    {
      rule: 'index-shape',
      file: index.path,
      line: sizeLimits.indexLines + 1,
      subject: 'lines',
      message,
    },
  ];
}

/**
 * Checks the modules that an `import` of an entry loads. Allowed are only the package's own
 * dependencies, and none of the slow modules.
 */
export function checkWeight(
  entry: string,
  files: readonly SourceFile[],
  dependencies: readonly string[],
): Finding[] {
  return reachedFrom(entry, files).modules.flatMap(({ file, imported: { specifier, line } }) => {
    const name = packageOf(specifier);
    const refused =
      modulesOutsideIndex.includes(name ?? specifier) ||
      (name !== undefined && !dependencies.includes(name));
    if (!refused) return [];
    return [
      {
        rule: 'index-weight' as const,
        file,
        line,
        subject: specifier,
        message: `"${specifier}" is loaded by importing ${entry}`,
      },
    ];
  });
}

/**
 * Finds statements that run when an entry is imported. Modules only declare, so that an import
 * changes nothing.
 */
export function checkImportEffects(entry: string, files: readonly SourceFile[]): Finding[] {
  return reachedFrom(entry, files).files.flatMap((file) =>
    file.importEffects.map(({ line, subject }) => ({
      rule: 'import-side-effect' as const,
      file: file.path,
      line,
      subject,
      message: `"${subject}" runs when ${entry} is imported: a module only declares`,
    })),
  );
}
