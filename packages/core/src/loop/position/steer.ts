import { decisionFold } from '../../ledger/decisions/steering.ts';
import type { Position } from '../position.ts';
import { withdrawFromCalls } from './calls.ts';
import { withdrawFromLimits } from './limits.ts';
import { changeModel } from './model.ts';

/** Folds the decisions that steer an agent into its position. */
export const steer = decisionFold<'agent', Position>({
  'spawn.detach': ({ children }, { data }) => {
    children.open.delete(data?.path ?? '');
  },
  'request.withdraw': ({ calls, limits }, { data }) => {
    withdrawFromCalls(calls, data?.requestId ?? '');
    withdrawFromLimits(limits, data?.requestId ?? '');
  },
  'limits.warn': ({ limits }, { data }) => {
    if (data?.reason !== undefined && data.of !== 'run') limits.warned.add(data.reason);
  },
  'limits.exhausted': ({ ending }, { data }) => {
    ending.stopReason ??= data?.reason;
  },
  'output.repair': ({ answer }) => {
    answer.isUnfit = true;
    answer.repairs++;
  },
  // The decision also has the `failure` that ends the agent.
  'output.invalid': ({ answer }) => {
    answer.isUnfit = true;
  },
  'goal.again': ({ answer }) => {
    answer.goalRounds++;
  },
  'goal.unmet': ({ ending }) => {
    ending.stopReason ??= 'goal_unmet';
  },
  'models.fallback': ({ model, prompt }, { data }) => {
    changeModel(model, Number(data?.rung));
    prompt.overflows = 0;
  },
  'guardrail.deny': ({ ending }, { data }) => {
    // A denied input or model call ends the agent with a refusal. A denied output was replaced by
    // a refusal.
    if (data?.point === 'output') ending.stopReason ??= 'refused';
    if (data?.point === 'input' || data?.point === 'modelCall')
      ending.refusal ??= String(data.message);
  },
  'hooks.transfer': ({ ending }, { data }) => {
    ending.next ??= data?.next;
  },
  'hooks.continue': ({ turn }) => {
    turn.unseen++;
  },
});
