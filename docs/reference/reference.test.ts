import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const core = 'packages/core/src';

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Finds the words of a page in backticks. */
function wordsOf(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word));
}

/** Everything that looks like the code of an error in the sources. */
function codesInSources(packages = '{core,cli,server,temporal}'): ReadonlySet<string> {
  const patterns = [
    /super\(\s*'([a-z]+(?:_[a-z]+)*)'/g,
    /new AdjutantError\(\s*'([a-z_]+)'/g,
    /new RequestRefusedError\(\s*[^,]+,\s*'([a-z_]+)'/g,
    /\bcode: '([a-z_]+)'/g,
    /readonly code = '([a-z_]+)'/g,
    /toErrorRecord\([^()]*, '([a-z_]+)'\)/g,
    /fallbackCode = '([a-z_]+)'/g,
    /const code = '([a-z_]+)';/g,
    /const code = [^;]*\? '([a-z_]+)'/g,
    /const code = [^;]*: '([a-z_]+)';/g,
  ];
  const codes = new Set<string>();
  for (const path of globSync(`packages/${packages}/src/**/*.ts`, { cwd: root })) {
    if (/\.(test|fixture)\.ts$|testing\/(contracts\/store|kit\/prompt-too-long)/.test(path))
      continue;
    const source = read(path);
    for (const pattern of patterns)
      for (const [, code = ''] of source.matchAll(pattern)) codes.add(code);
  }
  const kinds =
    /export type ModelErrorKind =([^;]*);/.exec(read(`${core}/models/error-kind.ts`))?.[1] ?? '';
  for (const [, kind] of kinds.matchAll(/'([a-z_]+)'/g)) codes.add(`model_${kind}`);
  return codes;
}

describe('errors.md', () => {
  const codes = codesInSources();

  test('names every error code', () => {
    expect(codes.size).toBeGreaterThan(40);
    const named = wordsOf(read('docs/reference/errors.md'));
    expect([...codes].filter((code) => !named.has(code))).toEqual([]);
  });

  test('and `ErrorCode` is the codes of core', () => {
    const union = read(`${core}/base/error-code.ts`).matchAll(/\| '([a-z_]+)'/g);
    expect([...union].map(([, code]) => code)).toEqual([...codesInSources('core')].sort());
  });

  test('names no error code that does not exist', () => {
    const rows = [...read('docs/reference/errors.md').matchAll(/^\| (`[^|]+) \|/gm)].flatMap(
      ([, cell = '']) => [...wordsOf(cell)],
    );
    expect(rows.length).toBeGreaterThan(40);
    expect(rows.filter((code) => !codes.has(code))).toEqual([]);
  });
});

/** The part of a page below a heading, up to the next one. */
function sectionOf(page: string, heading: string): string {
  return page.split(/^#{2,3} /m).find((section) => section.startsWith(`${heading}\n`)) ?? '';
}

describe('events.md', () => {
  const page = read('docs/reference/events.md');
  const source = [
    `${core}/ledger/event.ts`,
    ...globSync(`${core}/ledger/events/*.ts`, { cwd: root }).sort(),
  ]
    .map(read)
    .join('\n');
  const durable = [
    ...source.matchAll(/export interface \w+ extends Envelope<'(\w+)'> \{(.*?)\n\}/gs),
  ].map(([, type = '', body = '']) => ({
    type,
    fields: [...body.matchAll(/^ {2}readonly (\w+\??):/gm)].map(([, field = '']) => field),
  }));
  const transientSource = source.slice(
    source.indexOf('export type TransientEvent'),
    source.indexOf('export type StreamEvent'),
  );
  const transient = transientSource
    .split(/readonly type: /)
    .slice(1)
    .map((part) => ({
      type: /'(\w+)'/.exec(part)?.[1] ?? '',
      fields: [...part.matchAll(/readonly (\w+\??):/g)].map(([, field = '']) => field),
    }));

  test('finds the types in the source', () => {
    expect(durable.length).toBe([...source.matchAll(/^ {2}\w+: \d+,$/gm)].length);
    expect(transient.length).toBe(5);
  });

  test.each([...durable, ...transient])('has $type with all of its fields', ({ type, fields }) => {
    const section = sectionOf(page, `\`${type}\``);
    expect(section, `there is no section for ${type}`).not.toBe('');
    expect(fields.filter((field) => !wordsOf(section).has(field))).toEqual([]);
  });
});

describe('options.md', () => {
  const page = read('docs/reference/options.md');

  test.each([
    ['runnables/agent.ts', 'AgentOptions', 'agent'],
    ['runnables/agent.ts', 'AgentLimits', 'agent'],
    ['runnables/goal.ts', 'Goal', 'agent'],
    ['runnables/step.ts', 'StepOptions', 'step'],
    ['runnables/sequence.ts', 'SequenceOptions', 'sequence'],
    ['runnables/parallel.ts', 'ParallelOptions', 'parallel'],
    ['runnables/loop.ts', 'LoopOptions', 'loop'],
    ['tools/tool-definition.ts', 'ToolOptions', 'tool'],
    ['base/retry-options.ts', 'RetryOptions', 'tool'],
    ['tools/tool-definition.ts', 'ToolFallback', 'tool'],
    ['tools/agent-tool.ts', 'AgentToolOptions', 'tool'],
    ['tools/request-options.ts', 'RequestOptions', 'tool'],
    ['tools/request-options.ts', 'ApprovalOptions', 'tool'],
    ['tools/request-options.ts', 'PendingOperationOptions', 'tool'],
    ['engine/requests/service.ts', 'OperationOutcome', 'tool'],
    ['engine/requests/check.ts', 'RequestAnswer', 'requests'],
    ['engine/requests/check.ts', 'AnsweredBy', 'requests'],
    ['engine/requests/list.ts', 'ApprovalQuery', 'requests'],
    ['engine/requests/list.ts', 'RequestQuery', 'requests'],
    ['engine/requests/request-tokens.ts', 'TokenOptions', 'requests'],
    ['session/body-context.ts', 'CallOptions', 'call'],
    ['session/body-context.ts', 'EffectOptions', 'effect'],
    ['base/retry-options.ts', 'RetryOptions', 'effect'],
    ['engine/frame/run-options.ts', 'RunOptions', 'run'],
    ['engine/app/runtime-options.ts', 'RuntimeOptions', 'runtime'],
    ['engine/run/lifecycle.ts', 'LifecycleOptions', 'runtime'],
    ['views/explain.ts', 'ExplainOptions', 'explain'],
    ['engine/frame/run-options.ts', 'RunLimits', 'runtime'],
    ['engine/frame/run-options.ts', 'RuntimeLimits', 'runtime'],
    ['engine/run/advance.ts', 'AdvanceOptions', 'advance'],
    [
      'engine/run/advance.ts',
      'SendOptions',
      'cancel, pause, interrupt, send, reopen and resolveUnknown',
    ],
    [
      'engine/run/advance.ts',
      'CancelOptions',
      'cancel, pause, interrupt, send, reopen and resolveUnknown',
    ],
    [
      'engine/run/advance.ts',
      'ControlOptions',
      'cancel, pause, interrupt, send, reopen and resolveUnknown',
    ],
    [
      'engine/run/advance.ts',
      'InterruptOptions',
      'cancel, pause, interrupt, send, reopen and resolveUnknown',
    ],
    [
      'engine/run/reopen.ts',
      'ReopenOptions',
      'cancel, pause, interrupt, send, reopen and resolveUnknown',
    ],
    ['engine/frame/run-options.ts', 'SessionOptions', 'session'],
    ['engine/frame/run-options.ts', 'ForkOptions', 'fork'],
    ['engine/app/session-query.ts', 'SessionQuery', 'sessions'],
    ['stores/sqlite/index.ts', 'SqliteOptions', 'sqlite'],
    ['stores/postgres/index.ts', 'PostgresOptions', 'postgres'],
    ['stores/encrypted/store.ts', 'EncryptedOptions', 'encrypted'],
    ['stores/encrypted/keys/local-keys.ts', 'LocalKeysOptions', 'encrypted'],
    ['stores/encrypted/keys/local-keys.ts', 'LocalKey', 'encrypted'],
    ['supervision/options.ts', 'SupervisionOptions', 'supervision'],
    ['supervision/options.ts', 'LoopDetectionOptions', 'supervision'],
    ['supervision/errors/error-routing-options.ts', 'ErrorRoutingOptions', 'supervision'],
    ['base/retry-options.ts', 'RetryOptions', 'supervision'],
    ['supervision/options.ts', 'ResultCheckOptions', 'supervision'],
    ['supervision/options.ts', 'CircuitBreakerOptions', 'supervision'],
    ['supervision/result-check.ts', 'ToolCheck', 'tool'],
    ['supervision/guardrails/injection-patterns.ts', 'InjectionPatternsOptions', 'Guardrails'],
    ['supervision/guardrails/redact-personal-data.ts', 'RedactPersonalDataOptions', 'Guardrails'],
    ['supervision/guardrails/format-rules.ts', 'FormatRulesOptions', 'Guardrails'],
    ['supervision/guardrails/model-call-rate.ts', 'ModelCallRateOptions', 'Guardrails'],
    ['middleware/logging.ts', 'LoggingMiddlewareOptions', 'Middleware and error handlers'],
    ['opentelemetry/index.ts', 'OpenTelemetryOptions', 'Middleware and error handlers'],
    ['middleware/cli.ts', 'CliMiddlewareOptions', 'Middleware and error handlers'],
    ['middleware/response-cache.ts', 'ResponseCacheOptions', 'Middleware and error handlers'],
    ['middleware/think-tags.ts', 'StripThinkTagsOptions', 'Middleware and error handlers'],
    ['middleware/error-handlers.ts', 'RetryHandlerOptions', 'Middleware and error handlers'],
    ['middleware/error-handlers.ts', 'RateLimitHandlerOptions', 'Middleware and error handlers'],
    ['base/retry-options.ts', 'RetryOptions', 'Middleware and error handlers'],
    ['middleware/error-handlers.ts', 'TimeoutHandlerOptions', 'Middleware and error handlers'],
    ['middleware/error-handlers.ts', 'LoggingHandlerOptions', 'Middleware and error handlers'],
    ['runnables/compaction-options.ts', 'CompactionOptions', 'compaction'],
    ['engine/agent/read-tool-result.ts', 'ReadToolResultOptions', 'compaction'],
    ['tools/advisor.ts', 'AdvisorOptions', 'Middleware and error handlers'],
    ['models/model.ts', 'ModelSettings', 'Models'],
    ['base/retry-options.ts', 'RetryOptions', 'Models'],
    ['models/providers/lazy-model.ts', 'ProviderSettings', 'Models'],
    ['models/providers/openai.ts', 'OpenAiSettings', 'Models'],
    ['models/providers/gemini.ts', 'GeminiSettings', 'Models'],
    ['models/providers/claude.ts', 'ClaudeSettings', 'Models'],
    ['models/providers/openai-compatible.ts', 'OpenAiCompatibleSettings', 'Models'],
    ['models/text-protocol/text-protocol.ts', 'TextProtocolOptions', 'Models'],
    ['tools/builtin/web/fetch-url.ts', 'FetchUrlOptions', 'Built-in tools'],
    ['tools/builtin/csv/query-csv.ts', 'QueryCsvOptions', 'Built-in tools'],
    ['tools/builtin/current-time.ts', 'CurrentTimeOptions', 'Built-in tools'],
    ['bus/subscriptions.ts', 'BusOptions', 'Event buses'],
    ['bus/redis/redis-bus.ts', 'RedisBusOptions', 'Event buses'],
    ['bus/postgres/postgres-bus.ts', 'PostgresBusOptions', 'Event buses'],
    ['bus/event-bus.ts', 'SubscribeOptions', 'Event buses'],
    ['notifications/http/options.ts', 'HttpChannelOptions', 'Notification channels'],
    ['notifications/channels/console.ts', 'ConsoleChannelOptions', 'Notification channels'],
    ['notifications/channels/webhook.ts', 'WebhookChannelOptions', 'Notification channels'],
    ['notifications/channels/email.ts', 'EmailChannelOptions', 'Notification channels'],
    ['notifications/email/smtp.ts', 'SmtpOptions', 'Notification channels'],
    ['notifications/channels/web-push.ts', 'WebPushChannelOptions', 'Notification channels'],
    ['notifications/push/subscription.ts', 'VapidKeys', 'Notification channels'],
    ['notifications/channels/stream.ts', 'StreamChannelOptions', 'Notification channels'],
    ['notifications/stream/notice-hub.ts', 'NoticeHubOptions', 'Notification channels'],
    ['notifications/channels/slack.ts', 'SlackChannelOptions', 'Notification channels'],
    ['notifications/channels/telegram.ts', 'TelegramChannelOptions', 'Notification channels'],
    ['notifications/channels/sms.ts', 'SmsChannelOptions', 'Notification channels'],
    ['notifications/delivery/quiet-hours.ts', 'QuietHours', 'Notification channels'],
    ['notifications/delivery/plan-delivery.ts', 'DeliveryRequest', 'Notification channels'],
    ['notifications/delivery/plan-attempt.ts', 'AttemptRequest', 'Notification channels'],
    ['triggers/schedules/schedules.ts', 'CronOptions', 'Triggers'],
    ['triggers/schedules/schedules.ts', 'EveryOptions', 'Triggers'],
    ['triggers/schedules/schedules.ts', 'AtOptions', 'Triggers'],
    ['triggers/schedules/next-instant.ts', 'PreviewOptions', 'Triggers'],
    ['triggers/firings/policy.ts', 'FiringOptions', 'Triggers'],
    ['triggers/firings/due-firings.ts', 'FiringQuestion', 'Triggers'],
    ['triggers/firings/overlap.ts', 'OverlapQuestion', 'Triggers'],
    ['triggers/firings/cause.ts', 'CausingTrigger', 'Triggers'],
    ['triggers/declarations/condition.ts', 'ConditionOptions', 'Triggers'],
    ['triggers/declarations/webhook.ts', 'WebhookOptions', 'Triggers'],
    ['base/webhooks/sign-webhook.ts', 'OutgoingWebhook', 'Triggers'],
    ['triggers/webhooks/verify-webhook.ts', 'IncomingWebhook', 'Triggers'],
  ])('%s: has every option of %s', (path, name, heading) => {
    const body =
      new RegExp(`export interface ${name}\\b[^{]*\\{(.*?)\\n\\}`, 's').exec(
        read(`${core}/${path}`),
      )?.[1] ?? '';
    const options = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(
      ([, option = '']) => option,
    );
    expect(options.length).toBeGreaterThan(0);
    const words = [...wordsOf(sectionOf(page, heading))].flatMap((word) => word.split('.'));
    expect(options.filter((option) => !words.includes(option))).toEqual([]);
  });
});
