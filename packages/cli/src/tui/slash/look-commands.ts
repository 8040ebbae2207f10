import type { Event } from 'adjutant';
import { visibleJson } from 'adjutant/text';
import { explain } from 'adjutant/views';
import type { AppControl, SlashCommand } from '../app/control.ts';
import { usageText } from '../feed/amounts.ts';
import type { Block } from '../feed/block.ts';
import { Feed } from '../feed/feed.ts';
import { noTotals, type Totals, withUsage } from '../feed/totals.ts';
import { blockLines } from '../screens/block-lines.ts';
import { contentWidth, emptyGutter, lineSpans, type Space } from '../screens/layout.ts';
import type { Line } from '../text/spans.ts';
import { spansOf, splitLines } from '../text/spans.ts';
import { visible } from '../text/visible.ts';
import { wrapLine } from '../text/wrap.ts';

const show: SlashCommand = {
  name: 'show',
  words: '[seq|all]',
  summary: 'an event, or the whole conversation',
  run(app, words) {
    if (words === '' || words === 'all' || words === 'last') {
      const feed = new Feed();
      const blocks: Block[] = app.events.flatMap((event) => [...feed.take(event)]);
      app.print((space) => blocks.flatMap((block) => blockLines(block, space)));
      return;
    }
    const event = eventAt(app, words);
    if (event === undefined) return;
    app.print((space) => textLines(visibleJson(event, 2), space));
  },
};

/** The event of a number. `undefined`: there is none, and that was said. */
export function eventAt(app: AppControl, words: string): Event | undefined {
  const seq = Number(words.replace(/^#/, ''));
  const found = app.events.find((event) => event.seq === seq);
  if (found === undefined) {
    const text = `#${words.replace(/^#/, '')}: there are ${app.events.length} events.`;
    app.note({ sign: 'failed', tone: 'failure', text });
  }
  return found;
}

function textLines(text: string, space: Space): Line[] {
  return splitLines(spansOf(visible(text, 'output').pieces))
    .flatMap((line) => wrapLine(line, contentWidth(space)))
    .map((line) => [emptyGutter, ...line]);
}

const explainCommand: SlashCommand = {
  name: 'explain',
  words: '[seq]',
  summary: 'decisions with their reasons, newest first',
  run(app, words) {
    const all = [...explain(app.events)].reverse();
    const seq = words === '' ? undefined : Number(words.replace(/^#/, ''));
    const found = seq === undefined ? all : all.filter((one) => one.seq === seq);
    if (found.length === 0) {
      const text =
        seq === undefined
          ? 'Nothing was decided that needs an explanation.'
          : `#${seq} is no decision: there are ${app.events.length} events.`;
      app.note({ sign: 'note', tone: 'plain', text });
      return;
    }
    app.print((space) =>
      found.flatMap(({ seq: at, what, why, alternatives }) => [
        ...textLines(`#${at} ${what}`, space),
        ...textLines(`   ${why}`, space),
        ...alternatives.flatMap((other) => textLines(`   instead of: ${other}`, space)),
      ]),
    );
  },
};

const cost: SlashCommand = {
  name: 'cost',
  words: '',
  summary: 'rounds, tokens and dollars, by model',
  run(app) {
    const byModel = usageByModel(app.events);
    if (byModel.size === 0) {
      app.note({ sign: 'note', tone: 'plain', text: 'No model has been asked yet.' });
      return;
    }
    app.print(() =>
      [...byModel].map(([name, { totals, cached, ms }]) => [
        emptyGutter,
        ...lineSpans(name, { bold: true }),
        { text: `  ${usageText(totals, ms)}` },
        ...(cached > 0 ? [{ text: ` · ${cached.toLocaleString('en-US')} cached`, dim: true }] : []),
        ...(totals.isCostUnknown ? lineSpans(`  its price is not known`, { dim: true }) : []),
      ]),
    );
  },
};

interface ModelUsage {
  readonly totals: Totals;
  readonly cached: number;
  readonly ms: number;
}

function usageByModel(events: readonly Event[]): ReadonlyMap<string, ModelUsage> {
  const models = new Map<string, string>();
  const found = new Map<string, ModelUsage>();
  for (const event of events) {
    if (event.type === 'model_start') models.set(event.invocationId, event.model);
    if (event.type !== 'model_end') continue;
    const name = models.get(event.invocationId) ?? 'unknown';
    const before = found.get(name) ?? { totals: noTotals, cached: 0, ms: 0 };
    found.set(name, {
      totals: withUsage(before.totals, event),
      cached: before.cached + (event.usage.cachedInputTokens ?? 0),
      ms: before.ms + event.durationMs,
    });
  }
  return found;
}

const statusCommand: SlashCommand = {
  name: 'status',
  words: '',
  summary: 'the session, its run, and what it used',
  run(app) {
    const { conversation, feed, workplace, events } = app;
    const later = workplace.commandFor(conversation.session);
    const lines = [
      `session  ${conversation.session ?? 'new'} · ${events.length} events`,
      `agent    ${workplace.agent.name} · ${feed.runState}`,
      `used     ${usageText(feed.totals, 0).replace(/ · 0 ms$/, '')}`,
      ...(later === undefined ? [] : [`later    ${later}`]),
    ];
    app.print((space) => lines.flatMap((line) => textLines(line, space)));
  },
};

/** Commands that look at the session. */
export const lookCommands: readonly SlashCommand[] = [show, explainCommand, cost, statusCommand];
