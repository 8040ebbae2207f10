import type { JsonObject, JsonValue } from 'adjutant';
import { formatCount } from '../../output/format.ts';
import type { OpenRequest } from '../feed/call-record.ts';
import { diffLines, diffSum } from '../requests/diff-lines.ts';
import { diffOfEdit, editOf, type FileEdit } from '../requests/edit-request.ts';
import { contentWidth, emptyGutter, type Space } from '../screens/layout.ts';
import { type Line, spansOf, splitLines } from '../text/spans.ts';
import { visible } from '../text/visible.ts';
import { displayWidth } from '../text/width.ts';
import { wrapLine } from '../text/wrap.ts';
import { hasOwnSummary, isUnknownOutcome, isUsedUpLimit } from './question.ts';

/** Columns of the title that its facts take. */
const factColumns = 36;
/** Widest path that a title has whole. */
const longestPath = 60;

/** Returns what a request is about, whole: a person agrees to nothing that is not shown. */
export function requestBody(request: OpenRequest, space: Space): Line[] {
  const { kind, args, details } = request;
  if (kind === 'limit') return isUsedUpLimit(request) ? [] : wholeSummary(request, space);
  if (isUnknownOutcome(request))
    return [...argumentLines(args, space), ...knownLines(details.details, space)];
  const said = details.details === undefined ? [] : textLines(details.details, space);
  const before = [...wholeSummary(request, space), ...said];
  const edit = kind === 'approval' ? editOf(args) : undefined;
  if (edit === undefined) return [...before, ...argumentLines(args, space)];
  const others = Object.entries(args as JsonObject).filter(([, value]) => !isShown(edit, value));
  return [
    ...before,
    ...argumentLines({ ...pathIn(edit, request, space), ...Object.fromEntries(others) }, space),
    ...editLines(edit, space),
  ];
}

/** Words about an attempt of unknown outcome, as far as there are any. */
function knownLines(details: JsonValue | undefined, space: Space): Line[] {
  const { known } = (details ?? {}) as JsonObject;
  return known === undefined ? [] : textLines(known as JsonValue, space, 'known: ');
}

/** The path of an edit, where the title does not have it whole. */
function pathIn({ path }: FileEdit, { name, details }: OpenRequest, space: Space): JsonObject {
  const title = `${details.agent} wants to call ${name} ${path}`;
  const isWhole = displayWidth(title) < contentWidth(space) && displayWidth(path) < longestPath;
  return isWhole && !hasOwnSummary(details.summary, name) ? {} : { path };
}

/** The summary, where the title has no room for all of it. */
function wholeSummary({ name, kind, details: { summary } }: OpenRequest, space: Space): Line[] {
  if (kind === 'approval' && !hasOwnSummary(summary, name)) return [];
  const isCut = displayWidth(summary) > contentWidth(space) - factColumns || summary.includes('\n');
  return isCut ? textLines(summary, space) : [];
}

/** True for an argument that is shown beside the others. */
function isShown(edit: FileEdit, value: JsonValue | undefined): boolean {
  return value === edit.path || value === edit.old || value === edit.new;
}

/** The edit with line breaks at both ends: parts of lines are compared like whole ones. */
function endedParts(edit: FileEdit): FileEdit {
  const { old } = edit;
  const isWhole = old === undefined || old.endsWith('\n') || edit.new.endsWith('\n');
  return isWhole ? edit : { ...edit, old: `${old}\n`, new: `${edit.new}\n` };
}

function editLines(edit: FileEdit, space: Space): Line[] {
  const diff = diffOfEdit(endedParts(edit), undefined);
  const lines = diffLines(diff, { width: contentWidth(space), ascii: space.ascii });
  const sum = { text: `${formatCount(1, 'file')}, ${diffSum(diff, space.ascii)}`, dim: true };
  return [...lines, [sum]].map((line) => [emptyGutter, ...line]);
}

function argumentLines(args: JsonValue, space: Space): Line[] {
  if (args === null || typeof args !== 'object' || Array.isArray(args))
    return textLines(args, space);
  return Object.entries(args).flatMap(([name, value]) =>
    textLines(value as JsonValue, space, `${name}: `),
  );
}

/** The lines of a value, wrapped behind the gutter. */
function textLines(value: JsonValue, space: Space, label = ''): Line[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
  const name = spansOf(visible(label, 'requestLine').pieces, { dim: true });
  const spans = [...name, ...spansOf(visible(text, 'request').pieces)];
  return splitLines(spans)
    .flatMap((line) => wrapLine(line, contentWidth(space), 2))
    .map((line) => [emptyGutter, ...line]);
}
