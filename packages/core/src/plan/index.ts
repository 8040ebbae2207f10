export type {
  PlanDiff,
  PlannedSubtask,
  Subtask,
  SubtaskBudget,
} from '../ledger/event.ts';
