import type { ErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type { BodyEnd } from '../../engine/frame/invocation.ts';
import type { BodyFrame } from '../../engine/frame/run-context.ts';
import { cancelledEnd, invoke, isReleased } from '../../engine/invoke/invoke.ts';
import { dataOfWhole, partInput } from '../../engine/invoke/part-input.ts';
import { messageFor } from '../../engine/invoke/run-message.ts';
import { type DecisionOf, decision, isDecision } from '../../ledger/decisions/decision.ts';
import type { DataOf } from '../../ledger/decisions/decision-map.ts';
import { LedgerMismatchError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { visibleValues } from '../../ledger/folds/state-fold.ts';
import type { Runnable } from '../../session/runnable.ts';
import { branchState } from '../branch-state.ts';
import { byModel, byRules, choiceOf, matchesOf, type Routing, withoutChoice } from './choose.ts';
import type { RouteInput, Router } from './definition.ts';

type RouteData = DataOf<'router', 'route'>;
/** A route that was tried, and how it ended. */
interface Tried {
  readonly data: RouteData;
  readonly ended: InvocationRecord;
}

/** Place of the choice of the model below a router. No name of a route has the character. */
const chooserKey = '#choose';

/**
 * Runs a router: the recorded choices first, then new ones, until a route gives an answer or none
 * is left.
 */
export async function runRouter(router: Router, frame: BodyFrame): Promise<BodyEnd | undefined> {
  const { run, record, scope } = frame;
  const recorded = record.events.filter(isRoute).map(({ data }) => data as RouteData);
  const tried: Tried[] = [];
  for (;;) {
    if (scope.aborted) return isReleased(run, scope) ? undefined : cancelledEnd(scope);
    const data = recorded[tried.length] ?? (await nextRoute(router, frame, tried));
    if (data === released) return undefined;
    if (data === undefined) return scope.aborted ? cancelledEnd(scope) : exhausted(router, tried);
    const ended = await runRoute(router, frame, data);
    if (ended === undefined) return undefined;
    if (scope.aborted) return cancelledEnd(scope);
    tried.push({ data, ended });
    if (ended.status === 'completed' && (ended.stopReason === undefined || data.next.length === 0))
      return answerOf(frame, ended);
  }
}

const released: unique symbol = Symbol('released');

function isRoute(event: Event): event is DecisionOf<'router', 'route'> {
  return isDecision(event, 'router', 'route');
}

/** Decides on the next route and records it. Nothing is decided again once it is recorded. */
async function nextRoute(
  router: Router,
  frame: BodyFrame,
  tried: readonly Tried[],
): Promise<RouteData | undefined | typeof released> {
  const last = tried.at(-1);
  const routed = last === undefined ? await firstRoute(router, frame) : afterFailure(last);
  if (routed === undefined || routed === released) return routed;
  const { reason, ...data } = routed;
  frame.run.ledger.append([
    decision('router', 'route', {
      invocationId: frame.record.path,
      reasoning: reason,
      alternatives: router.routes.map(({ name }) => name).filter((name) => name !== data.target),
      data,
    }),
  ]);
  return data;
}

async function firstRoute(
  router: Router,
  frame: BodyFrame,
): Promise<(RouteData & { readonly reason: string }) | undefined | typeof released> {
  const routing = await choose(router, frame);
  return routing === undefined || routing === released ? routing : { ...routing, attempt: 1 };
}

function afterFailure({ data, ended }: Tried): (RouteData & { reason: string }) | undefined {
  const [target, ...next] = data.next;
  if (target === undefined) return undefined;
  const code = codeOf(ended);
  return {
    target,
    by: 'failure',
    attempt: data.attempt + 1,
    next,
    after: data.target,
    code,
    reason: `"${data.target}" ended with ${code}: ${messageOf(ended)}`,
  };
}

async function choose(
  router: Router,
  frame: BodyFrame,
): Promise<Routing | undefined | typeof released> {
  const matches = matchesOf(router.rules, inputOf(frame));
  const chosen = byRules(router, matches);
  if (chosen !== undefined) return chosen;
  if (router.chooser === undefined)
    return withoutChoice(
      router,
      matches.length === 0 ? 'No rule matches.' : 'No rule that matches is confident enough.',
    );
  const asked = await invoke(frame.run, {
    path: `${frame.record.path}/${chooserKey}`,
    runnable: router.chooser,
    mode: 'call',
    scope: frame.scope,
    activity: frame.activity,
  });
  if (asked === undefined) return released;
  if (frame.scope.aborted) return undefined;
  if (asked.status === 'completed' && asked.output !== undefined)
    return byModel(router, choiceOf(frame.run.ledger.resolve(asked.output) as JsonValue));
  return withoutChoice(router, `The model gave no choice: ${messageOf(asked)}`);
}

function inputOf({ run, record }: BodyFrame): RouteInput {
  return {
    message: messageFor(run.ledger, record) ?? '',
    data: run.ledger.resolve(record.input?.data) as JsonValue | undefined,
    state: visibleValues(run.ledger.state, 'session', record.path),
  };
}

/**
 * Runs a route as a branch: what a failed one wrote and said does not stay.
 * @throws LedgerMismatchError when the ledger has a route that the code has not
 */
async function runRoute(
  router: Router,
  frame: BodyFrame,
  { target }: RouteData,
): Promise<InvocationRecord | undefined> {
  const { run, record, scope, activity } = frame;
  const path = `${record.path}/${target}`;
  const runnable = router.routes.find(({ name }) => name === target);
  if (runnable === undefined)
    throw new LedgerMismatchError({
      path: record.path,
      recorded: `the route "${target}"`,
      found: 'no such route',
    });
  const input = partInput(run, path, runnable as Runnable, dataOfWhole(frame));
  return invoke(run, {
    path,
    runnable: runnable as Runnable,
    mode: 'child',
    branch: true,
    timeoutMs: router.routeTimeoutMs,
    ...(input instanceof Promise ? await input : input),
    scope,
    activity,
  });
}

function answerOf({ run, record }: BodyFrame, ended: InvocationRecord): BodyEnd {
  return {
    status: 'completed',
    output: ended.output,
    stopReason: ended.stopReason,
    before: branchState(run.ledger, record.path, ended.path),
  };
}

/** Returns the end of a router without a route that is left to try. */
function exhausted(router: Router, tried: readonly Tried[]): BodyEnd {
  const failures = tried.map(({ data, ended }) => ({
    route: data.target,
    code: codeOf(ended),
    message: messageOf(ended),
  }));
  const message =
    failures.length === 0
      ? `The router "${router.name}" found no route: no rule and no model chose one that it may ` +
        'take, and it has neither a `fallback` nor a `default`.'
      : `No route of the router "${router.name}" gave an answer: ` +
        failures.map(({ route, message: said }) => `${route}: ${said}`).join('; ');
  const error: ErrorRecord = {
    name: 'RoutingExhaustedError',
    code: 'routing_exhausted',
    message,
    data: { router: router.name, failures },
  };
  return { status: 'error', error };
}

function codeOf({ error, stopReason, status }: InvocationRecord): string {
  return error?.code ?? stopReason ?? status;
}

function messageOf({ error, stopReason, status }: InvocationRecord): string {
  return error?.message ?? (stopReason === undefined ? status : `it stopped for ${stopReason}.`);
}
