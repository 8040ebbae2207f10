import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type Directive, parseSync, type Statement } from 'oxc-parser';

/** One exported name of an entry, with its declaration as the compiler wrote it. */
export interface ExportedName {
  readonly name: string;
  /** The declaration without comments. Overloads follow each other. */
  readonly declaration: string;
}

interface Module {
  readonly path: string;
  readonly text: string;
  readonly statements: readonly (Statement | Directive)[];
  readonly comments: readonly { readonly start: number; readonly end: number }[];
}

const modules = new Map<string, Module>();

/** Reads the names that a declaration file exports, in alphabetical order. */
export function exportedNames(path: string): readonly ExportedName[] {
  const found = namesOf(moduleAt(path)).map(({ name, from, original }) => ({
    name,
    declaration: renamed(declarationOf(from, original), original, name),
  }));
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface Origin {
  readonly name: string;
  readonly original: string;
  readonly from: Module;
}

function namesOf(module: Module): readonly Origin[] {
  return module.statements.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return [];
    if (statement.declaration !== null)
      return declaredNames(statement).map((name) => ({ name, original: name, from: module }));
    return statement.specifiers.map(({ local, exported }) => {
      const from = statement.source === null ? module : target(module, statement.source.value);
      return { name: nameOf(exported), original: nameOf(local), from };
    });
  });
}

function declarationOf(module: Module, name: string): string {
  const own = module.statements.filter(
    (statement) =>
      declaredNames(statement).includes(name) &&
      (statement.type !== 'ExportNamedDeclaration' || statement.declaration !== null),
  );
  if (own.length > 0) return own.map((statement) => withoutComments(module, statement)).join('\n');
  const again = [...namesOf(module), ...importedNames(module)].find(
    (one) => one.name === name && !(one.from === module && one.original === name),
  );
  if (again === undefined) throw new Error(`${module.path} does not declare ${name}`);
  return declarationOf(again.from, again.original);
}

function importedNames(module: Module): readonly Origin[] {
  return module.statements.flatMap((statement) => {
    if (statement.type !== 'ImportDeclaration' || !statement.source.value.startsWith('.'))
      return [];
    const from = target(module, statement.source.value);
    return statement.specifiers.flatMap((one) =>
      one.type === 'ImportSpecifier'
        ? [{ name: one.local.name, original: nameOf(one.imported), from }]
        : [],
    );
  });
}

function declaredNames(statement: Statement | Directive): readonly string[] {
  const declaration =
    statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  if (declaration === null) return [];
  switch (declaration.type) {
    case 'VariableDeclaration':
      return declaration.declarations.flatMap(({ id }) =>
        id.type === 'Identifier' ? [id.name] : [],
      );
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
    case 'ClassDeclaration':
      return declaration.id === null ? [] : [declaration.id.name];
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return [declaration.id.name];
    default:
      return [];
  }
}

function nameOf(node: { readonly type: string }): string {
  const { name, value } = node as { readonly name?: string; readonly value?: string };
  return name ?? value ?? '';
}

function target(module: Module, specifier: string): Module {
  const path = posix.join(posix.dirname(module.path), specifier);
  return moduleAt(path.replace(/\.(ts|js)$/, '.d.ts'));
}

function moduleAt(path: string): Module {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, 'utf8');
  const { program, comments } = parseSync(path, text, { lang: 'dts', sourceType: 'module' });
  const module = { path, text, statements: program.body, comments };
  modules.set(path, module);
  return module;
}

function withoutComments(
  { text, comments }: Module,
  { start, end }: Statement | Directive,
): string {
  let declaration = '';
  let at = start;
  for (const comment of comments.filter((one) => one.start >= start && one.end <= end)) {
    declaration += text.slice(at, comment.start);
    at = comment.end;
  }
  return `${declaration}${text.slice(at, end)}`
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join('\n');
}

function renamed(declaration: string, original: string, name: string): string {
  return original === name ? declaration : `${declaration}\n// exported as ${name}`;
}
