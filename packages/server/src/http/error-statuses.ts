import type { ContentfulStatusCode } from 'hono/utils/http-status';

/**
 * Statuses of the errors of the core that a request can be the reason of, by their codes; what is
 * not here is a fault inside. What the request says is wrong: 400. What it says is right but does
 * not go with what is there: 409.
 */
export const statusOfCode: Readonly<Record<string, ContentfulStatusCode>> = {
  // Options and values.
  invalid_run: 400,
  invalid_input: 400,
  invalid_option: 400,
  invalid_state: 400,
  undeclared_scope: 400,
  not_json: 400,
  state_conflict: 409,
  // Requests and answers.
  request_not_found: 404,
  request_settled: 409,
  invalid_answer: 400,
  decision_not_offered: 400,
  may_not_decide: 403,
  input_mismatch: 400,
  operation_ambiguous: 409,
  approval_token: 400,
  // Sessions, ledgers and stores.
  no_open_run: 409,
  not_reopenable: 409,
  not_resolvable: 409,
  session_busy: 409,
  session_not_found: 404,
  session_exists: 409,
  session_deleted: 410,
  invalid_cursor: 400,
  text_search_unavailable: 409,
  ledger_conflict: 409,
  ledger_mismatch: 409,
  state_order: 409,
  orphaned_child: 409,
  orphaned_effect: 409,
  unknown_runnable: 409,
  runnable_mismatch: 409,
  ledger_unreadable: 500,
  seq_out_of_range: 400,
  prompt_not_found: 404,
  redaction_incomplete: 409,
  store_unavailable: 503,
  store_too_new: 500,
  blob_missing: 500,
  key_unavailable: 503,
  segment_key_missing: 500,
  seal_broken: 500,
  run_stopped: 503,
  // Tasks.
  invalid_task: 400,
  task_not_found: 404,
  task_ended: 409,
  queue_full: 429,
  key_busy: 409,
  session_gone: 410,
  // Triggers and events.
  invalid_trigger: 400,
  trigger_not_found: 404,
  trigger_state: 409,
  invalid_bus_event: 400,
  reserved_session: 400,
  // Reports of evals.
  eval_report_not_found: 404,
  eval_report_unreadable: 409,
  eval_variant_not_found: 404,
  // Callers.
  invalid_api_key: 400,
  api_key_not_found: 404,
  api_key_state: 409,
  key_set_unavailable: 503,
};
