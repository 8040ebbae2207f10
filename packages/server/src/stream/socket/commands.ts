import { z } from '@hono/zod-openapi';
import { assertStorable } from '../../http/body-check.ts';
import { isKeyText, longestKey } from '../../http/idempotency.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import { faultsOf } from '../../http/validation.ts';

const longestId = 200;
const id = z.union([z.string().max(longestId), z.number()]).optional();
const key = z
  .string()
  .min(1)
  .max(longestKey)
  // It becomes the header of a request.
  .refine(isKeyText, `must be 1 to ${longestKey} visible ASCII characters`)
  .optional();
const reason = z.string().optional();

/** Commands of a client through a socket. The routes that carry a command out check its fields. */
const commandSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message'),
    id,
    key,
    text: z.string(),
    interrupt: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal('answer'),
    id,
    key,
    // It becomes a part of an address.
    request: z
      .string()
      .min(1)
      .refine((text) => text.isWellFormed(), 'must not have halves of characters'),
    decision: z.string().optional(),
    input: z.unknown().optional(),
    reason,
  }),
  z.strictObject({ type: z.literal('cancel'), id, key, reason }),
  z.strictObject({ type: z.literal('pause'), id, key, reason }),
  z.strictObject({
    type: z.literal('interrupt'),
    id,
    key,
    reason,
    next: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('continue'), id, key }),
  z.strictObject({
    type: z.literal('start'),
    id,
    key,
    agent: z.string(),
    input: z.string().optional(),
    data: z.unknown().optional(),
  }),
]);

export type SocketCommand = z.infer<typeof commandSchema>;

/** A command, or what is wrong with it. */
export type ReadCommand =
  | { readonly command: SocketCommand }
  | {
      readonly id?: string | number | undefined;
      readonly code: 'malformed_json' | 'invalid_request';
      readonly message: string;
    };

export function readCommand(text: string): ReadCommand {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {
      code: 'malformed_json',
      message: 'A message must be a JSON object such as {"type":"message","text":"Hello"}.',
    };
  }
  const given = (value as { readonly id?: unknown } | null)?.id;
  const named =
    (typeof given === 'string' && given.length <= longestId) || typeof given === 'number'
      ? { id: given }
      : {};
  try {
    // Before the schema, whose work grows with all that is wrong, and before a text is made of it,
    // which takes a call for each level.
    assertStorable(value);
  } catch (error) {
    if (!(error instanceof RequestRefusedError)) throw error;
    return { ...named, code: 'invalid_request', message: error.message };
  }
  const parsed = commandSchema.safeParse(value);
  if (parsed.success) return { command: parsed.data };
  return {
    ...named,
    code: 'invalid_request',
    message: `The message does not fit: ${faultsOf(parsed.error.issues)}.`,
  };
}

/** A request of the HTTP interface that does what a command says. */
export interface CommandRequest {
  readonly path: string;
  readonly body: object;
  readonly idempotencyKey: string | undefined;
}

/** @param session whose socket it is */
export function requestOf(command: SocketCommand, session: string): CommandRequest {
  const { type, id: _, key: idempotencyKey, ...fields } = command;
  const ofSession = `/v1/sessions/${encodeURIComponent(session)}`;
  if (command.type === 'answer') {
    const { request, ...body } = fields as Omit<
      Extract<SocketCommand, { type: 'answer' }>,
      'type' | 'id' | 'key'
    >;
    return { path: `/v1/approvals/${encodeURIComponent(request)}`, body, idempotencyKey };
  }
  const places = {
    message: 'messages',
    cancel: 'cancel',
    pause: 'pause',
    interrupt: 'interrupt',
    continue: 'continue',
    start: 'runs',
  } as const;
  return {
    path: `${ofSession}/${places[type as keyof typeof places]}`,
    body: fields,
    idempotencyKey,
  };
}
