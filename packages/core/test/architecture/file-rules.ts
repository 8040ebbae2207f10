import type { Finding, Rule } from './finding.ts';
import { importCircles, packageOf, relativeTarget } from './import-graph.ts';
import { isTestFile } from './room-rules.ts';
import { sizeLimits } from './rooms.ts';
import type { Occurrence, SourceFile } from './source-file.ts';

/** Returns the findings of the rules that hold in every workspace. */
export function checkFiles(files: readonly SourceFile[]): Finding[] {
  return [...files.flatMap(checkFile), ...checkCircles(files)];
}

function checkFile(file: SourceFile): Finding[] {
  return [...checkSizes(file), ...checkForms(file), ...checkWorkspaceBorders(file)];
}

function checkSizes(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  const isTest = isTestFile(file.path);
  const limit = isTest ? sizeLimits.testFileLines : sizeLimits.fileLines;
  if (file.lines > limit) {
    const message = `${file.lines} lines; ${isTest ? 'a test file' : 'a file'} may have ${limit}`;
    findings.push({
      rule: 'file-size',
      file: file.path,
      line: limit + 1,
      subject: 'lines',
      message,
    });
  }
  for (const { name, line, lines } of isTest ? [] : file.functions) {
    if (lines <= sizeLimits.functionLines) continue;
    const message = `"${name}" has ${lines} lines; a function may have ${sizeLimits.functionLines}`;
    findings.push({ rule: 'function-size', file: file.path, line, subject: name, message });
  }
  return findings;
}

function checkForms(file: SourceFile): Finding[] {
  const asFindings = (
    rule: Rule,
    occurrences: readonly Occurrence[],
    message: (subject: string) => string,
  ): Finding[] =>
    occurrences.map(({ line, subject }) => ({
      rule,
      file: file.path,
      line,
      subject,
      message: message(subject),
    }));
  return [
    ...asFindings('syntax', file.errors, (subject) => subject),
    ...asFindings(
      'export-star',
      file.exportStars,
      (subject) => `export the names of "${subject}" one by one`,
    ),
    ...asFindings('default-export', file.defaultExports, () => 'use a named export'),
    ...asFindings('any', file.anyTypes, () => 'use unknown, a type parameter or the type itself'),
  ];
}

/** Returns the folder whose package.json a file belongs to: `packages/core`, `examples`, …. */
function workspaceOf(path: string): string {
  const parts = path.split('/');
  return parts.slice(0, parts[0] === 'packages' ? 2 : 1).join('/');
}

function checkWorkspaceBorders(file: SourceFile): Finding[] {
  if (isTestFile(file.path) || workspaceOf(file.path) === 'scripts') return [];
  return file.imports.flatMap(({ specifier, line }) => {
    const target = relativeTarget(file.path, specifier);
    if (target === undefined || workspaceOf(target) === workspaceOf(file.path)) return [];
    const message =
      `"${specifier}" leaves ${workspaceOf(file.path)}: import another workspace by its ` +
      'package name';
    return [
      { rule: 'workspace-import' as const, file: file.path, line, subject: specifier, message },
    ];
  });
}

function checkCircles(files: readonly SourceFile[]): Finding[] {
  return importCircles(files).map((circle) => ({
    rule: 'import-circle',
    file: circle[0] as string,
    line: 1,
    subject: circle.join(', '),
    message: `these import one another, types and import() counted: ${circle.join(', ')}`,
  }));
}

/** Imports that the package.json of a workspace allows to its sources. */
export interface Manifest {
  /** Folder from the repository root. */
  readonly folder: string;
  readonly name: string;
  readonly dependencies: readonly string[];
  /** Peers that may be missing; they are loaded with `import()` on first use. */
  readonly optionalPeers: readonly string[];
}

/** Finds runtime imports of packages that an installed copy of the package would not find. */
export function checkPackages(files: readonly SourceFile[], manifest: Manifest): Finding[] {
  const sources = files.filter(
    ({ path }) => path.startsWith(`${manifest.folder}/src/`) && !isTestFile(path),
  );
  return sources.flatMap((file) =>
    file.imports.flatMap(({ specifier, kind, line }) => {
      const name = packageOf(specifier);
      if (
        name === undefined ||
        kind === 'type' ||
        name === manifest.name ||
        manifest.dependencies.includes(name)
      )
        return [];
      const isOptional = manifest.optionalPeers.includes(name);
      if (isOptional && kind === 'lazy') return [];
      const advice = isOptional
        ? 'is an optional peer: load it with import() through loadOptionalPackage'
        : `is not a dependency of ${manifest.name}`;
      return [
        {
          rule: 'package-import' as const,
          file: file.path,
          line,
          subject: specifier,
          message: `"${specifier}" ${advice}`,
        },
      ];
    }),
  );
}
