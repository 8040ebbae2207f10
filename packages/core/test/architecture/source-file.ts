import { type Node, parseSync, visitorKeys } from 'oxc-parser';

/** Kind of an import. `type` does not exist at run time; `lazy` is an `import()` expression. */
export type ImportKind = 'runtime' | 'type' | 'lazy';

export interface ModuleImport {
  readonly specifier: string;
  readonly kind: ImportKind;
  readonly line: number;
  /**
   * Names that the import binds, as the other module exports them. `*` stands for the whole module;
   * the list is empty for `import './x.ts'`.
   */
  readonly names: readonly string[];
}

export interface FunctionSize {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

export interface Occurrence {
  readonly line: number;
  readonly subject: string;
}

/** Facts about one source file, as the rules need them. */
export interface SourceFile {
  /** Path from the repository root, with `/`. */
  readonly path: string;
  readonly lines: number;
  readonly errors: readonly Occurrence[];
  readonly imports: readonly ModuleImport[];
  readonly functions: readonly FunctionSize[];
  readonly anyTypes: readonly Occurrence[];
  readonly exportStars: readonly Occurrence[];
  readonly defaultExports: readonly Occurrence[];
  /** Clocks, timers and randomness of the platform that the file uses without a port. */
  readonly sourcesOfChance: readonly Occurrence[];
  /** References that the collector of memory clears. */
  readonly collectorGlobals: readonly Occurrence[];
  /** Globals that reach the outside: `process`, `fetch`, `console`. */
  readonly outsideGlobals: readonly Occurrence[];
  /** Statements that do more than declare when the module is imported. */
  readonly importEffects: readonly Occurrence[];
  /** Top-level statements that are not `export { … } from`. */
  readonly ownDeclarations: readonly Occurrence[];
}

interface Reading {
  readonly lineOf: (node: Node) => number;
  readonly lastLineOf: (node: Node) => number;
  readonly file: {
    -readonly [Key in keyof SourceFile]: SourceFile[Key] extends readonly (infer Item)[]
      ? Item[]
      : SourceFile[Key];
  };
}

const timers = new Set(['setTimeout', 'setInterval', 'setImmediate']);
/** Globals whose effects come when the collector of memory decides. */
const collectorGlobals = new Set(['FinalizationRegistry', 'WeakRef']);
const chanceMembers = new Set([
  'Date.now',
  'Math.random',
  'performance.now',
  'process.hrtime',
  'process.uptime',
  'AbortSignal.timeout',
  'crypto.randomUUID',
  'crypto.getRandomValues',
]);
const chanceModules = new Set(['node:timers', 'node:timers/promises', 'node:perf_hooks']);
const cryptoChance = /^(random|getRandomValues$|webcrypto$|\*$)/;
const outsideGlobals = new Set(['process', 'fetch', 'console']);
const typeAssertions = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);
const globalObjects = new Set(['globalThis', 'global']);

/** Returns the facts of a TypeScript source file that the rules check. */
export function readSource(path: string, text: string): SourceFile {
  const result = parseSync(path, text, {
    astType: 'ts',
    lang: path.endsWith('.tsx') ? 'tsx' : 'ts',
    sourceType: 'module',
  });
  const lineAt = lineFinder(text);
  const reading: Reading = {
    lineOf: (node) => lineAt(node.start),
    lastLineOf: (node) => lineAt(node.end),
    file: emptyFile(path, text),
  };
  for (const error of result.errors)
    reading.file.errors.push({ line: lineAt(error.labels[0]?.start ?? 0), subject: error.message });
  for (const statement of result.program.body) readStatement(reading, statement);
  visit(result.program, [], (node, ancestors) => readNode(reading, node, ancestors));
  return reading.file;
}

function emptyFile(path: string, text: string): Reading['file'] {
  return {
    path,
    lines: text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    errors: [],
    imports: [],
    functions: [],
    anyTypes: [],
    exportStars: [],
    defaultExports: [],
    sourcesOfChance: [],
    collectorGlobals: [],
    outsideGlobals: [],
    importEffects: [],
    ownDeclarations: [],
  };
}

function lineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

function visit(
  node: Node,
  ancestors: readonly Node[],
  enter: (node: Node, ancestors: readonly Node[]) => void,
): void {
  enter(node, ancestors);
  const inside = [...ancestors, node];
  for (const key of visitorKeys[node.type] ?? []) {
    const child = (node as unknown as Record<string, Node | (Node | null)[] | null | undefined>)[
      key
    ];
    for (const item of Array.isArray(child) ? child : [child]) if (item) visit(item, inside, enter);
  }
}

const declarations =
  /^(Import|Export|Function|Class|Variable|TS)[A-Za-z]*Declaration$|^(EmptyStatement|ExportAllDeclaration)$/;

function readStatement({ file, lineOf }: Reading, statement: Node): void {
  const line = lineOf(statement);
  const subject = statement.type;
  if (statement.type === 'ImportDeclaration' && statement.specifiers.length === 0) {
    file.importEffects.push({ line, subject: `import '${statement.source.value}'` });
  }
  if (!declarations.test(statement.type)) file.importEffects.push({ line, subject });
  const isReexport = statement.type === 'ExportNamedDeclaration' && statement.source !== null;
  if (!isReexport) file.ownDeclarations.push({ line, subject });
}

function readNode(reading: Reading, node: Node, ancestors: readonly Node[]): void {
  const { file, lineOf } = reading;
  const line = lineOf(node);
  if (node.type === 'TSAnyKeyword') file.anyTypes.push({ line, subject: 'any' });
  if (node.type === 'ExportAllDeclaration')
    file.exportStars.push({ line, subject: node.source.value });
  readDefaultExport(file, node, line);
  readImport(file, node, line);
  readFunction(reading, node, ancestors);
  readGlobals(file, node, ancestors, line);
}

function readDefaultExport(file: Reading['file'], node: Node, line: number): void {
  const named =
    node.type === 'ExportSpecifier' && 'name' in node.exported && node.exported.name === 'default';
  if (node.type === 'ExportDefaultDeclaration' || named)
    file.defaultExports.push({ line, subject: 'default' });
}

function readImport(file: Reading['file'], node: Node, line: number): void {
  if (node.type === 'ImportDeclaration') {
    const names = node.specifiers.map((specifier) =>
      specifier.type === 'ImportSpecifier' ? nameOf(specifier.imported) : '*',
    );
    file.imports.push({
      specifier: node.source.value,
      kind: node.importKind === 'type' ? 'type' : 'runtime',
      line,
      names,
    });
  }
  if (node.type === 'ExportNamedDeclaration' && node.source) {
    const names = node.specifiers.map((specifier) => nameOf(specifier.local));
    file.imports.push({
      specifier: node.source.value,
      kind: node.exportKind === 'type' ? 'type' : 'runtime',
      line,
      names,
    });
  }
  if (node.type === 'ExportAllDeclaration') {
    file.imports.push({
      specifier: node.source.value,
      kind: node.exportKind === 'type' ? 'type' : 'runtime',
      line,
      names: ['*'],
    });
  }
  if (node.type === 'TSImportType')
    file.imports.push({ specifier: node.source.value, kind: 'type', line, names: [] });
  if (node.type === 'ImportExpression' && node.source.type === 'Literal') {
    file.imports.push({ specifier: String(node.source.value), kind: 'lazy', line, names: ['*'] });
  }
}

function readFunction(
  { file, lineOf, lastLineOf }: Reading,
  node: Node,
  ancestors: readonly Node[],
): void {
  if (
    node.type !== 'FunctionDeclaration' &&
    node.type !== 'FunctionExpression' &&
    node.type !== 'ArrowFunctionExpression'
  )
    return;
  const line = lineOf(node);
  file.functions.push({
    name: functionName(node, ancestors.at(-1)),
    line,
    lines: lastLineOf(node) - line + 1,
  });
}

function functionName(node: Node, parent: Node | undefined): string {
  if ('id' in node && node.id && 'name' in node.id) return String(node.id.name);
  if (parent?.type === 'VariableDeclarator') return nameOf(parent.id);
  if (
    parent?.type === 'MethodDefinition' ||
    parent?.type === 'Property' ||
    parent?.type === 'PropertyDefinition'
  )
    return nameOf(parent.key);
  if (parent?.type === 'CallExpression') return `argument of ${nameOf(parent.callee)}`;
  return 'anonymous function';
}

function nameOf(node: Node): string {
  if (node.type === 'MemberExpression') return `${nameOf(node.object)}.${nameOf(node.property)}`;
  if ('name' in node && typeof node.name === 'string') return node.name;
  if (node.type === 'Literal') return String(node.value);
  return 'anonymous';
}

function readGlobals(
  file: Reading['file'],
  node: Node,
  ancestors: readonly Node[],
  line: number,
): void {
  const parent = ancestors.at(-1);
  if (node.type === 'MemberExpression') {
    const path = nameOf(node).replace(/^(globalThis|global)\./, '');
    if (chanceMembers.has(path)) file.sourcesOfChance.push({ line, subject: path });
    if (
      'name' in node.object &&
      globalObjects.has(String(node.object.name)) &&
      timers.has(nameOf(node.property))
    ) {
      file.sourcesOfChance.push({ line, subject: path });
    }
  }
  if (isOwnDate(node))
    file.sourcesOfChance.push({
      line,
      subject: node.type === 'NewExpression' ? 'new Date()' : 'Date()',
    });
  if (node.type === 'ImportDeclaration' && node.importKind !== 'type')
    readChanceImport(file, node.source.value, node.specifiers, line);
  if (node.type === 'Identifier' && isReference(node, parent)) {
    if (timers.has(node.name)) file.sourcesOfChance.push({ line, subject: node.name });
    if (collectorGlobals.has(node.name)) file.collectorGlobals.push({ line, subject: node.name });
    if (outsideGlobals.has(node.name)) file.outsideGlobals.push({ line, subject: node.name });
  }
}

/** True for `new Date()` without arguments, and for `Date()`, which ignores them. */
function isOwnDate(node: Node): boolean {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return false;
  return (
    nameOf(node.callee) === 'Date' &&
    (node.type === 'CallExpression' || node.arguments.length === 0)
  );
}

function readChanceImport(
  file: Reading['file'],
  specifier: string,
  specifiers: readonly Node[],
  line: number,
): void {
  if (chanceModules.has(specifier)) file.sourcesOfChance.push({ line, subject: specifier });
  if (specifier !== 'node:crypto') return;
  for (const imported of specifiers) {
    const name = imported.type === 'ImportSpecifier' ? nameOf(imported.imported) : '*';
    if (cryptoChance.test(name))
      file.sourcesOfChance.push({ line, subject: `node:crypto ${name}` });
  }
}

function isReference(node: Node, parent: Node | undefined): boolean {
  if (!parent) return false;
  if (parent.type.startsWith('TS')) return typeAssertions.has(parent.type);
  if (parent.type === 'MemberExpression') return parent.computed || parent.object === node;
  if (
    parent.type === 'Property' ||
    parent.type === 'MethodDefinition' ||
    parent.type === 'PropertyDefinition'
  ) {
    return parent.computed || parent.value === node;
  }
  return !/^(Import|Export)/.test(parent.type);
}
