import { formatDuration } from '../../output/format.ts';
import type { CallRecord } from '../feed/call-record.ts';
import type { ChildWork } from '../feed/places.ts';
import { tailOfBlock } from '../text/markdown/blocks.ts';
import { sign, spinnerSign } from '../text/signs.ts';
import { type Line, type Span, textOfLine } from '../text/spans.ts';
import { displayWidth } from '../text/width.ts';
import { userLines } from './block-lines.ts';
import { callLines, callSpans, outputLine } from './call-lines.ts';
import { emptyGutter, gutterSign, lineSpans, type Space, spread, toned } from './layout.ts';
import type { LiveView, Screen } from './live-view.ts';
import { answerLines } from './prose.ts';

/** Lines of an item that is under way: the first one says what it is. */
type Item = readonly [Line, ...Line[]];

/** Returns what is under way, in at most so many lines. */
export function activityLines(view: LiveView, screen: Screen, height: number): Line[] {
  if (height <= 0) return [];
  const items = itemsOf(view, screen);
  const text = openLines(view, screen);
  const least = text.length > 0 && height > 1 ? 1 : 0;
  const shownItems = fittedItems(items, height - least, screen);
  const room = height - shownItems.length;
  return [...(room > 0 ? text.slice(-room) : []), ...shownItems];
}

function openLines({ openText, hasOpenGap }: LiveView, screen: Screen): Line[] {
  if (openText.trim() === '') return [];
  const lines = answerLines(tailOfBlock(openText.trimEnd(), screen.rows), screen);
  return hasOpenGap ? [[], ...lines] : lines;
}

function itemsOf(view: LiveView, screen: Screen): Item[] {
  // The card shows the calls that ask.
  const calls = view.calls.filter(({ state }) => view.card === undefined || state !== 'asks');
  return [
    ...calls.flatMap((call) => callItem(call, view, screen)),
    ...view.children.map((child) => childItem(child, view, screen)),
    ...modelItem(view, screen),
    ...view.stored.map((text) => storedItem(text, screen)),
  ];
}

/** The items that fit: with their lines, else one line for each, else the first ones. */
function fittedItems(items: readonly Item[], height: number, screen: Screen): Line[] {
  const all = items.flat();
  if (all.length <= height) return all;
  const heads = items.map(([head]) => head);
  if (heads.length <= height) return heads;
  if (height <= 0) return [];
  const shown = heads.slice(0, height - 1);
  const left = heads.length - shown.length;
  return [...shown, [emptyGutter, { text: `+ ${left} more`, dim: true }]]
    .slice(0, height)
    .map((line) => spread(line, { facts: [] }, screen));
}

function moving({ tick }: LiveView, { ascii }: Space): Span {
  return { text: `${spinnerSign(tick ?? 0, ascii)} ` };
}

function callItem(call: CallRecord, view: LiveView, screen: Screen): Item[] {
  const { name, args, state, startedAt, retry, progress } = call;
  if (state === 'settled') return [[callLines(call, screen)[0] as Line]];
  if (state === 'asks') {
    const left = [gutterSign('asks', toned('attention'), screen), ...callSpans(name, args)];
    return [[spread(left, { facts: ['waits'] }, screen)]];
  }
  if (retry !== undefined) {
    const wait = Math.max(0, retry.at - view.now);
    const left = [
      gutterSign('again', toned('attention'), screen),
      ...callSpans(name, args),
      { text: ` ${retry.errorType}, try ${retry.attempt} in ${formatDuration(wait)}` },
    ];
    return [[spread(left, { facts: [] }, screen)]];
  }
  const took = formatDuration(Math.max(0, view.now - startedAt));
  const facts = state === 'begun' ? [] : [took];
  const head = spread([moving(view, screen), ...callSpans(name, args)], { facts }, screen);
  const bar = sign('output', screen.ascii);
  return [[head, ...progress.map((line) => outputLine(line, bar, screen))]];
}

function childItem(child: ChildWork, view: LiveView, screen: Screen): Item {
  const { name, input, depth, newest, isWaiting, rounds, startedAt } = child;
  const left: Line = [
    isWaiting ? gutterSign('asks', toned('attention'), screen) : moving(view, screen),
    { text: `${'  '.repeat(depth)}${sign('child', screen.ascii)} ` },
    ...lineSpans(name),
    ...(input === '' ? [] : [{ text: ' ' }, ...lineSpans(`"${input}"`, { dim: true })]),
    ...lineSpans(isWaiting ? '  waits for you' : `  ${newest}`),
  ];
  const took = formatDuration(Math.max(0, view.now - startedAt));
  return [spread(left, { facts: [`r${rounds}`, took] }, screen)];
}

/** The model, while nothing of its answer is there. */
function modelItem(view: LiveView, screen: Screen): Item[] {
  const { model, openText, now } = view;
  if (model === undefined || openText.trim() !== '') return [];
  if (model.state === 'retries') {
    const wait = Math.max(0, (model.retryAt ?? now) - now);
    const again = `Try ${model.attempt} in ${formatDuration(wait)}`;
    const left = [
      gutterSign('again', toned('attention'), screen),
      ...lineSpans(`${model.model} ${model.text}`),
    ];
    // Where there is no room for all of it, the failure is cut and not the wait.
    const isWide = displayWidth(textOfLine(left)) + again.length + 8 <= screen.columns;
    return isWide
      ? [[spread([...left, { text: ` ${again}` }], { facts: ['Esc'] }, screen)]]
      : [[spread(left, { facts: [again, 'Esc'] }, screen)]];
  }
  const word = model.state === 'thinking' ? 'thinking' : 'preparing';
  const last = model.text.split('\n').at(-1) ?? '';
  const left: Line = [
    moving(view, screen),
    { text: word },
    ...(last === '' ? [] : lineSpans(` ${last}`, { dim: true })),
  ];
  const took = formatDuration(Math.max(0, now - model.startedAt));
  return [[spread(left, { facts: [took] }, screen)]];
}

function storedItem(text: string, screen: Screen): Item {
  const [first = []] = userLines({ text }, screen);
  return [spread(first, { facts: ['stored · read after this round'] }, screen)];
}
