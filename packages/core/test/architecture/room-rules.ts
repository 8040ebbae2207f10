import { builtinModules } from 'node:module';
import type { Finding } from './finding.ts';
import { packageOf, relativeTarget } from './import-graph.ts';
import {
  compositionRoots,
  namesOfMachine,
  portFiles,
  type Room,
  rooms,
  simulatedRooms,
} from './rooms.ts';
import type { ModuleImport, Occurrence, SourceFile } from './source-file.ts';

const coreSource = 'packages/core/src/';

/**
 * True for tests and their fixtures. The room table, the function limit and the port rule do not
 * apply to them.
 */
export function isTestFile(path: string): boolean {
  return (
    path.endsWith('.test.ts') || path.endsWith('.test.tsx') || /^packages\/[^/]+\/test\//.test(path)
  );
}

/**
 * Returns the room of a path below `packages/core/src`. It is the longest name of the table that
 * the path starts with, else its first part.
 */
function roomOf(path: string): string {
  const inside = path.slice(coreSource.length);
  const nested = Object.keys(rooms).filter((name) => inside.startsWith(`${name}/`));
  return (
    nested.sort((one, other) => other.length - one.length)[0] ?? (inside.split('/')[0] as string)
  );
}

/** Returns the findings of the rules that hold for the files of core alone. */
export function checkRooms(files: readonly SourceFile[]): Finding[] {
  return files
    .filter((file) => file.path.startsWith(coreSource) && !isTestFile(file.path))
    .flatMap(checkCoreFile);
}

function checkCoreFile(file: SourceFile): Finding[] {
  const name = roomOf(file.path);
  if (compositionRoots.includes(name)) return [];
  const room = rooms[name];
  if (!room) {
    const message =
      `"${name}" is not a room: put the file into a room, or add a line to the table in ` +
      'rooms.ts and to ARCHITECTURE.md';
    return [{ rule: 'room-import', file: file.path, line: 1, subject: name, message }];
  }
  return [
    ...file.imports.flatMap((imported) => checkImport(file, name, room, imported)),
    ...checkChance(file),
    ...checkPurity(file, name, room),
    ...checkHost(file, name),
  ];
}

function checkImport(
  file: SourceFile,
  name: string,
  room: Room,
  imported: ModuleImport,
): Finding[] {
  const target = relativeTarget(file.path, imported.specifier);
  const place = { file: file.path, line: imported.line, subject: imported.specifier };
  if (target?.startsWith(coreSource)) {
    const reason = refusal(name, room, roomOf(target), imported.kind === 'type');
    return reason
      ? [{ rule: 'room-import', ...place, message: `"${imported.specifier}": ${reason}` }]
      : [];
  }
  if (imported.kind === 'type') return [];
  if (packageOf(imported.specifier) === 'adjutant') {
    return [
      {
        rule: 'room-import',
        ...place,
        message: `"${imported.specifier}": inside core, import the file itself`,
      },
    ];
  }
  if (
    room.nodeModules &&
    isBuiltin(imported.specifier) &&
    !room.nodeModules.includes(imported.specifier)
  ) {
    const allowed = room.nodeModules.join(', ');
    return [
      {
        rule: 'room-import',
        ...place,
        message: `"${imported.specifier}": of Node's modules, ${name}/ may import only ${allowed}`,
      },
    ];
  }
  return [];
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}

function refusal(name: string, room: Room, target: string, typeOnly: boolean): string | undefined {
  if (target === name || room.imports.includes(target)) return undefined;
  if (room.types?.includes(target))
    return typeOnly
      ? undefined
      : `${name}/ may import only types of ${target}/ (use "import type")`;
  const allowed = [...room.imports, ...(room.types ?? []).map((type) => `types of ${type}`)];
  return (
    `${name}/ may import ${allowed.length ? allowed.join(', ') : 'no other room'}, not ` +
    `${target}`
  );
}

function checkChance(file: SourceFile): Finding[] {
  if (portFiles.includes(file.path.slice(coreSource.length))) return [];
  return file.sourcesOfChance.map(({ line, subject }) => ({
    rule: 'raw-source-of-chance',
    file: file.path,
    line,
    subject,
    message:
      `"${subject}": time, timers, identifiers and randomness enter through Clock, IdSource ` +
      'and Random of base/',
  }));
}

/**
 * True for the name of an implementation of a port, such as `systemClock`, and for `*`. Only a
 * composition root or a room with effects may import these.
 */
function isSystemPort(name: string): boolean {
  return /^(\*$|system|setBackgroundTimer$|afterThisTurn$)/.test(name);
}

/** Finds what a file imports of the machine's own time, identifiers and randomness. */
function systemPortsOf(file: SourceFile): readonly Occurrence[] {
  return file.imports.flatMap(({ kind, specifier, names, line }) => {
    const target = relativeTarget(file.path, specifier)?.slice(coreSource.length);
    return kind !== 'type' && target !== undefined && portFiles.includes(target)
      ? names.filter(isSystemPort).map((subject) => ({ line, subject }))
      : [];
  });
}

/** Finds what a simulation could not decide: it replaces the `Host` of a runtime alone. */
function checkHost(file: SourceFile, name: string): Finding[] {
  if (!simulatedRooms.includes(name)) return [];
  const found = [...systemPortsOf(file), ...file.collectorGlobals];
  const isListed = file.path.slice(coreSource.length) in namesOfMachine;
  if (isListed && found.length > 0) return [];
  if (isListed)
    return [
      {
        rule: 'stale-exception',
        file: file.path,
        line: 1,
        subject: name,
        message: `${file.path} names nothing of the machine: remove its line of \`namesOfMachine\``,
      },
    ];
  return found.map(({ line, subject }) => ({
    rule: 'machine-past-host',
    file: file.path,
    line,
    subject,
    message: `"${subject}": in ${name}/, the machine is reached through the \`Host\` port alone`,
  }));
}

function checkPurity(file: SourceFile, name: string, room: Room): Finding[] {
  const isException = room.impureFiles?.includes(file.path.slice(`${coreSource}${name}/`.length));
  if (!room.pure || isException) return [];
  const imports = file.imports.filter(({ kind }) => kind !== 'type');
  const modules = imports
    .filter(({ specifier }) => !specifier.startsWith('.'))
    .map(({ specifier, line }) => ({ line, subject: specifier }));
  return [...modules, ...systemPortsOf(file), ...file.outsideGlobals].map(({ line, subject }) => ({
    rule: 'impure-room',
    file: file.path,
    line,
    subject,
    message:
      `"${subject}": ${name}/ is pure, it takes what it needs as arguments and imports no ` +
      'package or Node module at run time',
  }));
}
