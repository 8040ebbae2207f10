import { defined } from '../../base/defined.ts';
import { canonicalJson } from '../../base/json.ts';
import {
  type PlaceRange,
  type PromptSection,
  type PromptSectionName,
  rankOf,
  withShares,
} from './prompt-sections.ts';

/** Message, tool, or the settings of a call: what sections are made of. */
export type PromptItem =
  | NonNullable<PromptSection['messages']>[number]
  | NonNullable<PromptSection['tools']>[number]
  | NonNullable<PromptSection['settings']>;

/** Change of one section from one prompt to the next. */
export interface PromptSectionChange {
  readonly section: PromptSectionName;
  readonly title: string;
  /** `changed`: as many tokens, with another content. */
  readonly kind: 'same' | 'grown' | 'shrunk' | 'changed' | 'new' | 'gone';
  /** Its tokens before and after; 0 where it is missing. */
  readonly tokens: { readonly before: number; readonly after: number };
  /** Number of items at its beginning that stayed. */
  readonly keep: number;
  /** Items behind them that went. */
  readonly removed?: readonly PromptItem[];
  /** Items that came in their place. The others follow. */
  readonly added?: readonly PromptItem[];
  /** Places of its messages in the next prompt; missing when it has none. */
  readonly at?: readonly PlaceRange[];
}

/** Compares the sections of two prompts. `applyPromptDiff` makes the next one of the first. */
export function diffPrompts(
  before: readonly PromptSection[],
  after: readonly PromptSection[],
): readonly PromptSectionChange[] {
  const names = new Set([...before, ...after].map(({ name }) => name));
  return [...names]
    .sort((one, other) => rankOf(one) - rankOf(other))
    .map((name) => changeOf(named(before, name), named(after, name)))
    .filter((change) => change !== undefined);
}

function named(
  sections: readonly PromptSection[],
  wanted: PromptSectionName,
): PromptSection | undefined {
  return sections.find(({ name }) => name === wanted);
}

function changeOf(
  before: PromptSection | undefined,
  after: PromptSection | undefined,
): PromptSectionChange | undefined {
  const section = after ?? before;
  if (section === undefined) return undefined;
  const old = itemsOf(before);
  const next = itemsOf(after);
  const texts = [old.map(textOf), next.map(textOf)] as const;
  const keep = commonStart(...texts);
  const end = commonStart(texts[0].slice(keep).reverse(), texts[1].slice(keep).reverse());
  const removed = old.slice(keep, old.length - end);
  const added = next.slice(keep, next.length - end);
  const tokens = { before: before?.tokens ?? 0, after: after?.tokens ?? 0 };
  return {
    section: section.name,
    title: section.title,
    kind: kindOf(before, after, removed.length + added.length > 0),
    tokens,
    keep,
    ...(removed.length === 0 ? {} : { removed }),
    ...(added.length === 0 ? {} : { added }),
    ...defined({ at: after?.at }),
  };
}

function kindOf(
  before: PromptSection | undefined,
  after: PromptSection | undefined,
  isChanged: boolean,
): PromptSectionChange['kind'] {
  if (before === undefined) return 'new';
  if (after === undefined) return 'gone';
  if (!isChanged) return 'same';
  if (before.tokens === after.tokens) return 'changed';
  return before.tokens < after.tokens ? 'grown' : 'shrunk';
}

function textOf(item: PromptItem): string {
  return canonicalJson(item);
}

function commonStart(one: readonly string[], other: readonly string[]): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length++;
  return length;
}

function itemsOf(section: PromptSection | undefined): readonly PromptItem[] {
  if (section?.settings !== undefined) return [section.settings];
  return section?.messages ?? section?.tools ?? [];
}

/** Returns the sections of the next prompt from those of the first and the changes. */
export function applyPromptDiff(
  before: readonly PromptSection[],
  diff: readonly PromptSectionChange[],
): readonly PromptSection[] {
  return withShares(
    diff
      .filter(({ kind }) => kind !== 'gone')
      .map(({ section, title, tokens, keep, removed = [], added = [], at }) => {
        const old = itemsOf(named(before, section));
        const items = [...old.slice(0, keep), ...added, ...old.slice(keep + removed.length)];
        return { name: section, title, tokens: tokens.after, ...contentOf(section, items, at) };
      }),
  );
}

function contentOf(
  section: PromptSectionName,
  items: readonly PromptItem[],
  at: readonly PlaceRange[] = [],
): Pick<PromptSection, 'at' | 'messages' | 'tools' | 'settings'> {
  // The items of a section are of the one kind that it has.
  if (section === 'tools') return { tools: items as NonNullable<PromptSection['tools']> };
  if (section === 'settings')
    return { settings: items[0] as NonNullable<PromptSection['settings']> };
  return { at, messages: items as NonNullable<PromptSection['messages']> };
}
