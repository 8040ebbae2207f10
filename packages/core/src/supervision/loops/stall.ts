import { canonicalJson, type JsonValue } from '../../base/json.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import { type CallEvidence, evidenceKey, failureType, isEvidence, vagueType } from '../evidence.ts';
import type { LoopDetectionOptions } from '../options.ts';
import { tellsTheSame, withoutVolatile } from '../result-key.ts';
import { type LoopVerdict, stalled } from './loop-verdict.ts';

/** A call as it is judged by the rounds before it. */
export interface RoundCall {
  readonly name: string;
  readonly args: JsonValue;
  readonly turn: number;
  /** The round of its invocation in which the model made it. */
  readonly round: number;
}

/** Facts about tools and settled calls that rounds are judged by. */
export interface CallFacts {
  /** True for a tool that changes nothing outside: only its results are news. */
  readonly isReadOnly: (tool: string) => boolean;
  /**
   * True when no call with the arguments of a settled call came before it. `false` when that is not
   * certain: the calls are compared then.
   */
  readonly isFirst: (one: CallEvidence) => boolean;
}

type Options = Required<Pick<LoopDetectionOptions, 'stallWarnAt' | 'stallBlockAt'>>;

/**
 * Decides if a call is refused because the rounds before it brought nothing new. Calls of tools
 * that were not called in these rounds are another way, and made. Pure.
 * @param evidence settled calls of the agent, oldest first
 */
export function judgeStalledCall(
  evidence: readonly CallEvidence[],
  call: RoundCall,
  options: Options,
  facts: CallFacts,
): LoopVerdict | undefined {
  const { count, tools } = stalledRounds(evidence, call, facts);
  return count + 1 >= options.stallBlockAt && tools.has(call.name)
    ? stalled('block', call.name, count + 1, thresholdsOf(options))
    : undefined;
}

/** Decides if the model gets a warning with the result of a call that brought nothing new. Pure. */
export function judgeStalledResult(
  evidence: readonly CallEvidence[],
  call: RoundCall,
  result: ToolResult,
  options: Options,
  facts: CallFacts,
): LoopVerdict | undefined {
  const count = stalledRounds(evidence, call, facts).count + 1;
  if (count < options.stallWarnAt) return undefined;
  const isOwn = (one: CallEvidence) => isBefore(one, call);
  const one = { ...call, result };
  return isNews(evidence, evidence.length, one, isOwn, facts.isReadOnly(call.name))
    ? undefined
    : stalled('warn', call.name, count, thresholdsOf(options));
}

function thresholdsOf({ stallWarnAt: warnAt, stallBlockAt: blockAt }: Options) {
  return { warnAt, blockAt };
}

/** True for calls of earlier rounds of the same invocation since the last message from outside. */
function isBefore(one: CallEvidence, { turn, round }: RoundCall): boolean {
  return one.turn === turn && one.round !== undefined && one.round < round;
}

/** Returns the number of rounds without anything new before a call, and the tools called there. */
function stalledRounds(
  evidence: readonly CallEvidence[],
  call: RoundCall,
  facts: CallFacts,
): { readonly count: number; readonly tools: ReadonlySet<string> } {
  const isOwn = (one: CallEvidence) => isBefore(one, call);
  const tools = new Set<string>();
  let count = 0;
  let last: number | undefined;
  for (let i = evidence.length - 1; i >= 0; i--) {
    const one = evidence[i] as CallEvidence;
    if (one.round === call.round && one.turn === call.turn) continue;
    if (!isOwn(one)) break;
    if (wasNews(evidence, i, call, isOwn, facts)) {
      // News in a part of a round are news of the round.
      if (one.round === last) count--;
      break;
    }
    if (one.round !== last) count++;
    last = one.round;
    tools.add(one.name);
  }
  return { count, tools };
}

/** The last answer about a call, and what it was derived from. */
interface Judgement {
  readonly first: CallEvidence | undefined;
  readonly index: number;
  readonly round: number;
  readonly readOnly: boolean;
  readonly isNews: boolean;
}

/** A call is judged before each call of the next round and after it: once is enough. */
const judgements = new WeakMap<CallEvidence, Judgement>();

/** Returns `isNews` of a settled call, computed once for all calls of the round after it. */
function wasNews(
  evidence: readonly CallEvidence[],
  index: number,
  { round }: RoundCall,
  isOwn: (one: CallEvidence) => boolean,
  { isReadOnly, isFirst }: CallFacts,
): boolean {
  const one = evidence[index] as CallEvidence;
  const readOnly = isReadOnly(one.name);
  if (!readOnly && failureType(one.result) === undefined && isFirst(one)) return true;
  const [first] = evidence;
  const known = judgements.get(one);
  if (
    known?.first === first &&
    known?.index === index &&
    known.round === round &&
    known.readOnly === readOnly
  )
    return known.isNews;
  const isNewsNow = isNews(evidence, index, one, isOwn, readOnly);
  judgements.set(one, { first, index, round, readOnly, isNews: isNewsNow });
  return isNewsNow;
}

/** True when no call before `index` ended in the same way: the agent knows more now. */
function isNews(
  evidence: readonly CallEvidence[],
  index: number,
  one: CallEvidence,
  isOwn: (one: CallEvidence) => boolean,
  readOnly: boolean,
): boolean {
  if (!isEvidence(one)) return true;
  const type = failureType(one.result);
  for (let i = index - 1; i >= 0; i--) {
    const earlier = evidence[i] as CallEvidence;
    if (earlier.name !== one.name || !isOwn(earlier)) continue;
    const isKnown =
      type === undefined
        ? // Arguments first: they nearly always differ, and cost less to compare than results.
          (readOnly || evidenceKey(earlier) === evidenceKey(one)) &&
          isSame(earlier.result, one.result)
        : failureType(earlier.result) === type &&
          (type !== vagueType || wordsOf(earlier) === wordsOf(one));
    if (isKnown) return false;
  }
  return true;
}

/** Results up to this length may differ in times and ids, longer ones in nothing. */
const longestNormalised = 1_000;

const texts = new WeakMap<ToolResult, string>();

/** True when two results are the same. Long ones are compared as they stand, which costs little. */
function isSame(one: ToolResult, other: ToolResult): boolean {
  const [text, otherText] = [textOf(one), textOf(other)];
  if (text === otherText) return one.status === other.status;
  return (
    text.length <= longestNormalised &&
    otherText.length <= longestNormalised &&
    tellsTheSame(one, other)
  );
}

function textOf(result: ToolResult): string {
  const { content } = result;
  if (typeof content === 'string') return content;
  let text = texts.get(result);
  if (text === undefined) {
    text = JSON.stringify(content);
    texts.set(result, text);
  }
  return text;
}

const words = new WeakMap<ToolResult, string>();

/** Characters of an error that are compared. */
const mostCompared = 2_000;

/** Returns the words of an error without the arguments of its call. */
function wordsOf({ args, result }: CallEvidence): string {
  let found = words.get(result);
  if (found === undefined) {
    const { content } = result;
    let text = (typeof content === 'string' ? content : canonicalJson(content)).slice(
      0,
      mostCompared,
    );
    for (const leaf of leavesOf(args)) text = text.replaceAll(leaf, '#');
    found = withoutVolatile(text);
    words.set(result, found);
  }
  return found;
}

/** Parts of the arguments that an error may quote. */
const mostLeaves = 20;

/** Returns patterns of texts and numbers in arguments, the longest first. */
function leavesOf(args: JsonValue): RegExp[] {
  const leaves: string[] = [];
  const open: (JsonValue | undefined)[] = [args];
  while (open.length > 0 && leaves.length < mostLeaves) {
    const value = open.pop();
    if (typeof value === 'object' && value !== null) open.push(...Object.values(value));
    else if (typeof value === 'string' || typeof value === 'number') leaves.push(String(value));
  }
  return leaves
    .filter((leaf) => leaf !== '' && leaf.length <= mostCompared)
    .sort((one, other) => other.length - one.length)
    .map((leaf) => new RegExp(`(?<![0-9A-Za-z])${escaped(leaf)}(?![0-9A-Za-z])`, 'g'));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
}
