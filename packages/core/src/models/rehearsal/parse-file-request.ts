import { defined } from '../../base/defined.ts';
import type { Request } from './request.ts';
import { findTablePath } from './table-path.ts';

const quoted = /["“'`]([^"”'`]+)["”'`]/;
const pathToken = /(?:^|[\s"'`(“])((?:\.{0,2}\/)?[\w.-]+(?:\/[\w.-]+)*\/?)(?=$|[\s"'`),;:?!”])/g;

const superlatives = 'largest|smallest|highest|lowest|maximum|minimum';
const searchWords = new RegExp(
  String.raw`\b(?:search|grep|look for|mentions?|contain(?:s|ing)?)\b|` +
    String.raw`\bfind\b(?!\s+(?:the\s+)?(?:sum|total|average|mean|${superlatives}))`,
  'i',
);
const introduction = String.raw`(?:the\s+(?:word|text|phrase)\s+)?`;
const searchedFor = new RegExp(
  String.raw`\b(?:search|grep|look)(?:\s+(?:the|all|my))?(?:\s+files?)?(?:\s+for)?\s+` +
    String.raw`${introduction}(\S+)`,
  'i',
);
const mentioned = new RegExp(
  String.raw`\b(?:mentions?|contain(?:s|ing)?|find)\s+${introduction}(\S+)`,
  'i',
);
const searchedFolder = new RegExp(
  String.raw`\b(?:in|under|inside|within)\s+(?:the\s+)?(?:files?\s+(?:in|under|of)\s+)?` +
    String.raw`(?:folder\s+|directory\s+)?["'\x60]?([\w./-]*\w\/?)["'\x60]?`,
  'i',
);

/** Returns a search in files, such as "search for TODO in notes". */
export function parseSearch(clause: string): Request | undefined {
  if (!searchWords.test(clause) || findTablePath(clause) !== undefined) return undefined;
  const query =
    quoted.exec(clause)?.[1] ?? searchedFor.exec(clause)?.[1] ?? mentioned.exec(clause)?.[1];
  if (query === undefined || query === '') return undefined;
  const path = searchedFolder.exec(clause.replace(quoted, ''))?.[1];
  return {
    kind: 'search',
    query,
    ...(path === undefined || /^(files?|all|any|the|here|this|it)$/i.test(path) ? {} : { path }),
  };
}

const listWords = new RegExp(
  [
    String.raw`\b(?:list|show|what|which|see|display)\b.*\b(?:files?|folders?|director(?:y|ies))\b`,
    String.raw`^ls\b`,
    String.raw`\bwhat(?:'s|’s| is)\s+in\s+(?:the\s+)?(?:folder|directory)`,
    String.raw`^list\b`,
  ].join('|'),
  'i',
);
const listedFolder = new RegExp(
  String.raw`\b(?:in|under|inside|within|of|folder|directory|ls|list)\s+(?:the\s+|my\s+)?` +
    String.raw`(?:folder\s+|directory\s+)?` +
    String.raw`["'\x60]?((?:\.{0,2}\/)?[\w.-]+(?:\/[\w.-]+)*\/?)["'\x60]?` +
    String.raw`(?:\s+(?:folder|directory))?$`,
  'i',
);

/** Returns a request for the files of a folder, such as "list the csv files in notes". */
export function parseList(clause: string): Request | undefined {
  if (!listWords.test(clause)) return undefined;
  const path = listedFolder.exec(clause)?.[1];
  const extension = /\b(csv|md|markdown|json|txt|ts|js)\s+files?\b|\*\.(\w+)/i.exec(clause);
  const suffix = (extension?.[1] ?? extension?.[2])?.toLowerCase();
  return {
    kind: 'list',
    ...(path === undefined || /^(files?|the|all|here|folder|directory|workspace|this)$/i.test(path)
      ? {}
      : { path }),
    ...defined({ extension: suffix === 'markdown' ? 'md' : suffix }),
  };
}

const readWords = new RegExp(
  String.raw`\b(?:read|open|show|print|cat|display|contents?|` +
    String.raw`what(?:'s|’s| is) in|what does|first lines)\b`,
  'i',
);

/** Returns a request for the text of a file, such as "read notes/todo.md". */
export function parseRead(clause: string): Request | undefined {
  if (!readWords.test(clause)) return undefined;
  const inQuotes = quoted.exec(clause)?.[1];
  const candidates = [...clause.matchAll(pathToken)].flatMap((match) =>
    match[1] === undefined ? [] : [match[1]],
  );
  const path =
    inQuotes ??
    candidates.find(
      (token) => /\.\w{1,6}$/.test(token) || (/\w\/\w/.test(token) && !/^\d/.test(token)),
    );
  return path === undefined ? undefined : { kind: 'read', path };
}
