import type { CheckedCall, SupervisedCall } from '../../../effects/tool-call/supervisor.ts';
import { noWrites } from '../../../effects/writes.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import { missingPermissions } from '../../../supervision/permission.ts';
import { toolResult } from '../../../tools/result.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { refusal } from './decision-draft.ts';
import type { CallStage } from './stage.ts';

/** Refuses calls of tools that need a permission which the run does not have. */
export class PermissionStage implements CallStage {
  readonly #frame: BodyFrame;

  constructor(frame: BodyFrame) {
    this.#frame = frame;
  }

  check({ tool, state }: SupervisedCall): CheckedCall | undefined {
    if (tool.requiresPermission.length === 0) return undefined;
    const missing = missingPermissions(tool.requiresPermission, this.#frame.run.permissions.names);
    if (missing.length === 0) return undefined;
    const names = missing.join(', ');
    const result = toolResult.blocked(
      `The tool ${tool.name} was not run: it is not allowed here (${names}). Do not call it again.`,
      {
        errorType: 'permission_denied',
        alternatives: ['do it without this tool', 'tell the user what is not allowed'],
      },
    );
    const refused = refusal(
      result,
      decision('permissions', 'refuse', {
        invocationId: this.#frame.record.path,
        reasoning:
          `The tool ${tool.name} needs ${names}, which neither the runtime nor the session nor ` +
          'the run allows.',
        alternatives: ['grant'],
        data: { callId: state.call.callId, tool: tool.name, missing: [...missing] },
      }),
    );
    return { refused, guidance: [], writes: noWrites };
  }
}
