import type { Event } from '../ledger/event.ts';
import type { InvocationRecord, InvocationTree } from '../ledger/folds/invocation-fold.ts';
import { isOfOtherLane, laneAt } from '../ledger/folds/lanes.ts';
import type { HistoryScope } from '../ledger/prompt-recipe.ts';

/**
 * Relation of an event to the invocation that reads it. `own`: of the invocation itself;
 * `ancestor`: of one above it; `outside`: of no invocation. `before`: of an invocation in the same
 * line that ended before; `hidden`: not visible.
 */
export type Relation = 'own' | 'ancestor' | 'before' | 'outside' | 'hidden';

/**
 * Rules for the events of a ledger that one invocation sees. A branch sees its ancestors and
 * itself; calls below other invocations stay hidden.
 */
export class Visibility {
  readonly #tree: InvocationTree;
  readonly #path: string;
  readonly #scope: HistoryScope;
  readonly #known = new Map<string, Relation>();

  constructor(tree: InvocationTree, path: string, scope: HistoryScope) {
    this.#tree = tree;
    this.#path = path;
    this.#scope = scope;
  }

  /**
   * Returns the relation of an event to this invocation. A message may lack its run, because the
   * ledger was forked between the two. Such a message is for the next run.
   */
  relation(event: Event): Relation {
    if (this.#scope === 'none') return 'hidden';
    const path = event.invocationId;
    if (path === this.#path) return 'own';
    if (path === undefined || (event.type === 'user' && !this.#tree.byPath.has(path)))
      return this.#scope === 'own' || this.#isForOtherLane(event) ? 'hidden' : 'outside';
    if (event.type === 'memory') return this.#relationOfFact(path);
    let relation = this.#known.get(path);
    if (relation === undefined) {
      relation = this.#relationOf(path);
      this.#known.set(path, relation);
    }
    // Later events of ancestors depend on timing and stay hidden; messages of the user are for all.
    if (relation === 'ancestor' && event.type !== 'user' && event.seq > this.#startSeq())
      return 'hidden';
    if (relation === 'hidden' && event.type === 'invocation_end' && this.#isNotice(event))
      return 'own';
    return relation;
  }

  /** True for a message to another lane that no run of it has taken yet. */
  #isForOtherLane(event: Event): boolean {
    return (
      event.type === 'user' && isOfOtherLane(this.#tree, event, laneAt(this.#tree, this.#path))
    );
  }

  /**
   * Returns the relation of a fact. It is visible to all invocations that see the one for which it
   * was found. Calls made to find the fact belong to that invocation.
   */
  #relationOfFact(path: string): Relation {
    for (
      let record = this.#tree.byPath.get(path);
      record !== undefined;
      record = this.#tree.byPath.get(record.parent ?? '')
    ) {
      const relation = record.path === this.#path ? 'own' : this.#relationOf(record.path);
      if (relation !== 'hidden' || this.#isStructural(record)) return relation;
    }
    return 'hidden';
  }

  /**
   * True for the end of a spawned child whose call had its result before. The agent has not been
   * informed of that end yet.
   */
  #isNotice(event: Event): boolean {
    const record = this.#tree.byPath.get(event.invocationId ?? '');
    if (record === undefined || record.parent !== this.#path || record.next !== undefined)
      return false;
    // After a handoff, the child has ended when the last invocation in its slot has.
    const slot = record.path.replace(/>[^/]*$/, '');
    if (this.#tree.byPath.get(slot)?.mode !== 'spawn') return false;
    const callId = slot.slice(0, slot.lastIndexOf('/'));
    const owner = this.#tree.byPath.get(this.#path);
    return (
      owner?.events.some(
        (own) =>
          own.type === 'tool_result' && own.callId === callId && own.settled && own.seq < event.seq,
      ) === true
    );
  }

  /**
   * True when a slot is part of the structure above it and not a call, whichever runnable holds it
   * now.
   */
  #isStructural({ path, mode }: InvocationRecord): boolean {
    const first =
      mode === 'transfer' ? this.#tree.byPath.get(path.replace(/>[^/]*$/, ''))?.mode : mode;
    return first === 'child' || first === 'root';
  }

  /**
   * True when an invocation has ended and its events remain visible. The events of a failed branch
   * do not remain, whichever runnable held its slot.
   */
  #hasPassed(record: InvocationRecord): boolean {
    let last: InvocationRecord | undefined = record;
    while (record.branch && last?.next !== undefined)
      last = this.#tree.byPath.get(`${last.path}>${last.next.name}`);
    return last?.end !== undefined && (!record.branch || last.status === 'completed');
  }

  #startSeq(): number {
    return this.#tree.byPath.get(this.#path)?.start.seq ?? Number.POSITIVE_INFINITY;
  }

  /**
   * True when an invocation beside this line had ended when the line began. Invocations that end
   * later, as branches do, stay hidden.
   */
  #hasGoneBefore(record: InvocationRecord): boolean {
    if (this.#path.startsWith(`${record.path.replace(/>[^/]*$/, '')}>`))
      return record.end !== undefined;
    if (!this.#hasPassed(record)) return false;
    if (record.branch) return false;
    let line = this.#tree.byPath.get(this.#path);
    while (line !== undefined && line.parent !== record.parent)
      line = line.parent === undefined ? undefined : this.#tree.byPath.get(line.parent);
    return line === undefined || (record.end?.seq ?? 0) < line.start.seq;
  }

  #relationOf(path: string): Relation {
    if (this.#path.startsWith(`${path}/`)) return this.#scope === 'own' ? 'hidden' : 'ancestor';
    if (this.#scope === 'own') return 'hidden';
    if (this.#scope === 'all') return 'before';
    let record = this.#tree.byPath.get(path);
    while (record !== undefined) {
      if (!this.#isStructural(record)) return 'hidden';
      const { parent } = record;
      if (parent === undefined || this.#path.startsWith(`${parent}/`) || parent === this.#path) {
        return this.#hasGoneBefore(record) ? 'before' : 'hidden';
      }
      if (!this.#hasPassed(record)) return 'hidden';
      record = this.#tree.byPath.get(parent);
    }
    return 'hidden';
  }
}

/**
 * Returns the position of an event in the prompt: its `seq`, unless it belongs to a parallel
 * branch. Events of branches stand at their join, in the order of declaration, whatever the order
 * of arrival. Joins at or behind `before` do not count, because their existence depends on the time
 * of reading.
 */
export function promptPosition(
  tree: InvocationTree,
  event: Event,
  before: number,
): readonly number[] {
  let position: readonly number[] = [event.seq];
  let record = tree.byPath.get(event.invocationId ?? '');
  while (record !== undefined) {
    const parent: InvocationRecord | undefined =
      record.parent === undefined ? undefined : tree.byPath.get(record.parent);
    if (record.branch && parent?.end !== undefined && parent.end.seq < before)
      position = [parent.end.seq, parent.children.indexOf(record.path), ...position];
    record = parent;
  }
  return position;
}

export function comparePositions(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
